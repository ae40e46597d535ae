#!/usr/bin/env bats
# Journals that earlier builds wrote (journals/NAME/ is an instance: its bundle and its journal):
# each still replays, along the recorded path and to the recorded blackboards.
#
# A journal here is never written anew: runs that began with an older agent6 have to go on. What a
# new kind of line or fact looks like is shown by one more directory. UPDATE=1 writes what is
# expected of a directory that has no expectation yet.
load ../kit/common

setup() {
	cd "$AGENT6_SRC/tests/golden/journals" || return
	export TZ=UTC AGENT6_STATE_HOME=$SCRATCH/state
}

blackboards() { # DIR: in front of the first step, and behind each
	local seq last
	last=$(grep -c '^{"t":"step"' "$1/journal.jsonl")
	for ((seq = 0; seq <= last; seq++)); do
		agent6 machine replay --to "$seq" "./$1"
	done
}

# expects FILE CMD...: CMD prints what DIR/FILE holds, for every DIR
expects() {
	local dir got=$SCRATCH/got failed=0
	for dir in */; do
		"${@:2}" "$dir" >"$got" || failed=1
		[[ ! ${UPDATE-} || -e $dir$1 ]] || cp "$got" "$dir$1"
		diff -u "$dir$1" "$got" || failed=1
	done
	return $failed
}

path_of() {
	agent6 machine replay "./$1"
}


@test "every recorded journal replays to the recorded blackboards, step by step" {
	expects blackboards.jsonl blackboards
}

@test "every recorded journal tells the path that it told" {
	expects path.txt path_of
}

@test "every recorded journal is whole, and its own machine would have gone the same way" {
	local dir
	for dir in */; do
		agent6 machine verify "./$dir"
		agent6 machine replay --quiet --with "$dir/bundle" "./$dir"
	done
}

@test "the recorded journals hold every type of line and every kind of fact" {
	need jq
	local types member
	types=$(jq -r '.oneOf[].properties.t.const' "$AGENT6_SRC/schema/journal.schema.json" | sort | tr '\n' ' ')
	[ "$(jq -r .t */journal.jsonl | sort -u | tr '\n' ' ')" = "$types" ]
	for member in clause exit lost moved_aside not_run outcome planted poke visits woke_by; do
		jq -se "any(.[].fact // {}; has(\"$member\"))" */journal.jsonl >/dev/null || echo "no fact has $member"
	done | { ! grep .; }
}
