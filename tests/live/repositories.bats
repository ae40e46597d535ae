#!/usr/bin/env bats
# Repositories that a state's commands make: what becomes of the step, and what a person is told.

load ../kit/common
load machine

setup() {
	need jq
	need git
	live_setup
	rm -rf "$SCRATCH/ws/.git"
}

@test "a tool that makes a repository is nonzero, and the repository is moved aside before that is committed" {
	tool_machine plants '[sh, -c, "git init -q sub; git init -q $AGENT6_MACHINE_DATA_DIR/own; git init -q /tmp/own; mkdir .git || echo held"]'
	run agent6 machine run "$SCRATCH/plants"
	echo "$output"
	[[ $status -eq 1 && $output == *"made the repository $SCRATCH/ws/sub/.git, which was moved aside; back with: chmod u+rwX "* ]]
	[[ $(fact plants '"\(.exit) \(.stdout)"') == "0 held" ]]
	journal_has plants '"label":"nonzero"'
	[[ $(fact plants .planted) == "it made a repository; \$AGENT6_MACHINE_DATA_DIR or /tmp is where one may be made: $SCRATCH/ws/sub/.git, now "* ]]
	[[ $(fact plants .reason) == "it made a repository; "* ]]
	[[ ! -e $SCRATCH/ws/sub/.git && ! -e $SCRATCH/ws/.git && -d $(instance plants)/data/own/.git ]]
	local moved
	moved=$(fact plants '.moved_aside[0].to')
	[[ $moved == "$(instance plants)/aside/"* && $(fact plants '.moved_aside[0].path') == "$SCRATCH/ws/sub/.git" ]]
	# The printed command restores it.
	eval "$(sed -n 's/.*back with: \(chmod .*\)$/\1/p' <<<"$output" | head -n 1)"
	[[ -e $SCRATCH/ws/sub/.git/HEAD && ! -e $moved ]]
	agent6 audit | grep -q repository
}

@test "where a repository may be left, the step is nonzero and the next command is refused" {
	machine_file shut <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: [perl, -e, 'for (1 .. 140) { mkdir q(d); chdir q(d) }']
    timeout_secs: 20
    on: {ok: good, nonzero: next, timeout: good}
  next:
    kind: tool
    command: [touch, ran]
    timeout_secs: 20
    on: {ok: good, nonzero: good, timeout: good}
  good: {kind: terminal, status: ok, reason: good}
END
	run go shut
	echo "$output"
	[[ $status -ne 0 && $output == *"state next: "*"at layout: "*"cannot be searched for sockets, pipes and repositories: it lies too deep"* ]]
	[[ $(fact shut .planted) == "no other command begins: "* && ! -e $SCRATCH/ws/ran ]]
	rm -rf "$SCRATCH/ws/d"
	go shut
	[[ -e $SCRATCH/ws/ran ]]
}
