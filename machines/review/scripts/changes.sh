#!/bin/sh
# Prints {"files":N,"diff":TEXT}: what HEAD changes since it left $1. Outside a repository the
# difference is read from changes.diff, so that the machine can be rehearsed.
set -eu
text=$(mktemp)
if git rev-parse --git-dir >/dev/null 2>&1; then
	git merge-base "$1" HEAD >/dev/null 2>&1 || {
		echo "no history leads from $1 to HEAD here: fetch all of it, or name another --set base=" >&2
		exit 1
	}
	git diff --no-ext-diff --no-textconv --no-color "$1...HEAD" >"$text"
elif [ -e changes.diff ]; then
	cp changes.diff "$text"
else
	echo "no git repository is in sight here: start at the top of a work tree, where .git is" >&2
	exit 1
fi
files=$(grep -c '^diff --git ' "$text" || true)
# JSON has an escape for each of these; every other control character is dropped.
diff=$(head -c 400000 "$text" | iconv -c -f UTF-8 -t UTF-8 | tr -d '\000-\010\013-\037\177' |
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/	/\\t/g' | awk '{ printf "%s\\n", $0 }')
printf '{"files":%d,"diff":"%s"}\n' "$files" "$diff"
