#!/bin/sh
# attempt.sh OUTSIDE_DIR PORT: tries what a jailed tool must not be able to do, and says what worked.
try() {
	name=$1
	shift
	if ("$@") >/dev/null 2>&1; then
		out="$out,\"$name\":true"
	else
		out="$out,\"$name\":false"
	fi
}
write() {
	echo x >"$1"
}
out=
try read_outside cat "$1/secret"
try list_outside ls "$1"
try write_outside write "$1/planted"
try write_git write .git/config
try add_hook write .git/hooks/post-commit
try write_bundle write "$AGENT6_BUNDLE_DIR/machine.yaml"
try tcp bash -c ": </dev/tcp/127.0.0.1/$2"
try write_workspace write made-here
printf '{%s}\n' "${out#,}"
