#!/usr/bin/env bats
# Files that programs on the host run because of their names: which of them a run has changed.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
}

@test "what a run changed is told before its end, in status, for programs and on the page" {
	printf 'all:\n' >Makefile
	tool_machine plants '[sh, -c, "mkdir -p .vscode a && echo x >.vscode/tasks.json && echo x >a/.envrc && echo x >>Makefile && echo x >main.c"]'
	run agent6 machine run "$SCRATCH/plants"
	echo "$output"
	[[ $status -eq 0 && $output == *"changed, and programs on this host run or obey them:"*"  a/.envrc, made: direnv, when a shell enters the directory"*".vscode/tasks.json, made: VS Code"*"Makefile, changed: make"* ]]
	[[ $output != *main.c* ]]
	[ "$(journal plants | jq -r .t | tail -n 2 | paste -sd,)" = autorun,end ]
	run agent6 machine status plants
	[[ $output == *"programs on the host run or obey them"*"    a/.envrc, made: direnv"* ]]
	agent6 machine status --json plants | jq -e '.autorun | .cut == false and .more == 0 and
		[.files[].path] == ["a/.envrc", ".vscode/tasks.json", "Makefile"] and
		.files[0] == {path: "a/.envrc", change: "made", who: "direnv", when: "enter"}'
	agent6 machine report plants -o "$SCRATCH/page.html"
	grep -q '<li><code>a/.envrc</code> made: direnv, when a shell enters the directory</li>' "$SCRATCH/page.html"
	agent6 machine verify plants
	agent6 machine replay plants
	[ ! -e "$(instance plants)/autorun.json" ]
}

@test "a run that changes none says nothing, and one whose states only read looks at none" {
	tool_machine quiet '[sh, -c, "echo x >main.c"]'
	go quiet
	journal quiet | jq -se 'all(.[]; .t != "autorun")'
	agent6 machine status --json quiet | jq -e '.autorun == null'
	agent6 machine report quiet -o - | grep -q 'None that is known of'
	tool_machine reads '[sleep, "0.1"]'
	sed -i 's/kind: tool/&\n    workspace: read/' "$SCRATCH/reads/machine.yaml"
	need strace
	strace -f -e trace=rename,renameat,renameat2 -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/reads"
	! grep -q 'autorun.json' "$SCRATCH/trace"
}

@test "what was changed before a park is told there, and each later part by itself" {
	machine_file parts <<'END'
initial: one
budget: {max_transitions: 9}
states:
  one: {kind: tool, command: [sh, -c, 'echo x >.envrc'], timeout_secs: 20, on: {ok: park, nonzero: bad, timeout: bad}}
  park: {kind: wait, on: {signal: two}}
  two: {kind: tool, command: [sh, -c, 'echo x >.nvmrc'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	go parts --exit-on-wait
	agent6 machine list --json | jq -e '.[0].status == "waiting"'
	agent6 machine status --json parts | jq -e '[.autorun.files[].path] == [".envrc"]'
	echo mine >.exrc # between the parts: a person's
	agent6 machine poke parts --message on
	go parts
	agent6 machine status --json parts | jq -e '[.autorun.files[].path] == [".envrc", ".nvmrc"]'
	journal parts | jq -se '[.[] | select(.t == "autorun") | .files[].path] == [".envrc", ".nvmrc"]'
}

@test "what a run left that was killed is told by the one that goes on" {
	tool_machine killed '[sh, -c, "test -e go || { echo x >.envrc; touch planted; sleep 300; }"]' 400
	"$AGENT6_BIN/agent6" machine run "$SCRATCH/killed" >"$SCRATCH/output" 2>&1 3>&- &
	runner=$!
	eventually test -e planted
	kill -9 "$runner"
	wait "$runner" || true
	let_go "$(instance killed)"
	touch go
	run agent6 machine run "$SCRATCH/killed"
	echo "$output"
	[[ $status -eq 0 && $output == *".envrc, made: direnv"* ]]
}
