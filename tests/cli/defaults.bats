#!/usr/bin/env bats
# `defaults`: what a state does not say, every verb sees as if the state said it.
load ../kit/common

setup() {
	export AGENT6_STATE_HOME=$SCRATCH/state
	mkdir "$SCRATCH/repo" "$SCRATCH/short" "$SCRATCH/long"
	cd "$SCRATCH/repo" || return
	cat >../short/machine.yaml <<-'END'
		machine: sorts
		version: 1
		initial: slow
		budget: {max_transitions: 20}
		defaults:
		  tool: {timeout_secs: 1, on: {nonzero: broken, timeout: late, exhausted: tired}}
		states:
		  slow: {kind: tool, command: [sleep, "30"], on: {ok: broken}}
		  late: {kind: tool, command: ["true"], timeout_secs: 50, max_visits: 2, on: {ok: late}}
		  tired: {kind: tool, command: ["false"], on: {ok: done, nonzero: done}}
		  done: {kind: terminal, status: ok, reason: done}
		  broken: {kind: terminal, status: failed, reason: broken}
	END
	cat >../long/machine.yaml <<-'END'
		machine: sorts
		version: 1
		initial: slow
		budget: {max_transitions: 20}
		states:
		  slow: {kind: tool, command: [sleep, "30"], timeout_secs: 1, on: {ok: broken, nonzero: broken, timeout: late}}
		  late:
		    kind: tool
		    command: ["true"]
		    timeout_secs: 50
		    max_visits: 2
		    on: {ok: late, nonzero: broken, timeout: late, exhausted: tired}
		  tired: {kind: tool, command: ["false"], timeout_secs: 1, on: {ok: done, nonzero: done, timeout: late}}
		  done: {kind: terminal, status: ok, reason: done}
		  broken: {kind: terminal, status: failed, reason: broken}
	END
}

@test "a run takes the times and edges of defaults, and replays" {
	run -0 agent6 machine run ../short
	[[ $output == *"slow "*"timeout -> late"*"late "*"exhausted -> tired"*"tired "*"nonzero -> done"* ]]
	run -0 agent6 machine replay sorts
	run -0 agent6 machine replay --with ../long sorts
}

@test "check --report, --against, graph, test and inspect see the effective values" {
	need jq
	local bundle
	for bundle in short long; do
		agent6 machine check --report --format json "../$bundle" >"$bundle.json"
		agent6 machine graph --format mermaid "../$bundle" >"$bundle.graph"
		agent6 machine test "../$bundle" >"$bundle.test"
	done
	diff short.graph long.graph
	diff short.test long.test
	diff <(jq 'del(.. | .bundle?, .digest?)' short.json) <(jq 'del(.. | .bundle?, .digest?)' long.json)
	run -0 --separate-stderr agent6 machine check --against ../long ../short
	[[ $stderr != *"warning"* && $stderr != *"note"* ]]
	run -0 --separate-stderr agent6 machine check --against ../short ../long
	[[ $stderr != *"warning"* && $stderr != *"note"* ]]
}

@test "a default that changes changes every state that has it" {
	sed 's/timeout: late/timeout: tired/; s/on: {ok: broken}/on: {ok: late}/' ../short/machine.yaml >../long/machine.yaml
	run -0 agent6 machine graph --format mermaid ../long
	[[ $output == *'n0 -.->|"timeout"| n2'* && $output != *'n0 -.->|"timeout"| n1'* ]]
	run -0 agent6 machine run ../long
	[[ $output == *"timeout -> tired"* ]]
}
