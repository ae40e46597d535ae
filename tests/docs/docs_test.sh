#!/bin/bash
# Runs what the pages tell a reader to type, page by page, each in a fresh directory that looks like a
# checkout after `make`, and compares with what they say will be seen (steps.awk). TAP.
# shellcheck disable=SC2317 # the steps are made from the pages
set -u
AGENT6_SRC=${AGENT6_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
AGENT6_BIN=${AGENT6_BIN:-$AGENT6_SRC/build/bin}
count=0
bad=0
top=$(mktemp -d "${TMPDIR:-/tmp}/docs.XXXXXX") || exit 2
trap 'rm -rf "$top"' EXIT

result() { # STATUS NAME
	((++count))
	[[ $1 -eq 0 ]] || { printf 'not '; bad=1; }
	echo "ok $count - ${2//[#$'\n']/ }"
}

# holds OUTPUT LINE: `...` in LINE stands for anything.
holds() {
	local rest=$1 part
	while IFS= read -r part; do
		[[ $rest == *"$part"* ]] || return 1
		rest=${rest#*"$part"}
	done <<<"${2//.../$'\n'}"
}

step() { # WHERE COMMAND EXIT <EXPECTED
	local where=$1 command=$2 code=$3 line missing=
	eval "$command" >"$top/out" 2>&1 </dev/null
	local got=$?
	while IFS= read -r line; do
		holds "$(<"$top/out")" "$line" || missing+="${missing:+; }$line"
	done
	[[ $got -eq $code && -z $missing ]]
	result $? "$where ${command%%$'\n'*}"
	[[ $got -eq $code && -z $missing ]] && return
	echo "# exit $got, expected $code${missing:+; not seen: $missing}"
	sed 's/^/#   /' "$top/out"
}

write_file() { # WHERE NAME <TEXT
	mkdir -p "$(dirname "$2")" && cat >"$2"
	result $? "$1 writes $2"
}

page() {
	local dir
	dir=$(mktemp -d "$top/page.XXXXXX")
	mkdir -p "$dir/agent6/build" "$dir/home"
	cp -r "$AGENT6_SRC/examples" "$AGENT6_SRC/README.md" "$dir/agent6/"
	ln -s "$AGENT6_BIN" "$dir/agent6/build/bin"
	(cd "$dir/agent6" && git init -q . && git add . &&
		git -c user.name=docs -c user.email=docs@example.invalid commit -qm docs) || return 1
	cd "$dir/agent6" || return 1
	export HOME=$dir/home PATH=$AGENT6_BIN:$PATH
	unset XDG_STATE_HOME XDG_CONFIG_HOME
	# shellcheck disable=SC1090 # made from the page
	. <(cd "$AGENT6_SRC" && awk -f tests/docs/steps.awk "$1")
}

cd "$AGENT6_SRC" || exit 2
for file in README.md docs/*.md; do
	cd "$AGENT6_SRC" && page "$file"
done
echo "1..$count"
exit $bad
