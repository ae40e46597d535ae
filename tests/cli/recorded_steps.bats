# machine rehearse: steps that a case records in tools.jsonl, and that are then not executed.
load ../kit/common

setup() {
	need jq
	cd "$SCRATCH" || return
	mkdir -p watch/rehearsal/critical watch/scripts
	cat >watch/machine.yaml <<'END'
machine: watch
version: 1
initial: query
budget: {max_transitions: 20}
schemas:
  answer: {severity: {type: str, enum: [low, critical]}, count: int}
vars:
  operator: {package: {type: str, value: PyYAML}}
  code: {answer: {type: answer, default: {severity: low, count: 0}}}
states:
  query:
    kind: tool
    command: [curl, -s, "https://api.example/{{ package }}"]
    allow_network: ["api.example:443"]
    secrets: [TOKEN]
    workspace: read
    timeout_secs: 30
    output_schema: answer
    capture: {set: {answer: "{{ result }}"}}
    retry: {on: [nonzero], max: 1, backoff_secs: 0}
    on: {ok: judge, nonzero: broken, timeout: broken}
  judge:
    kind: branch
    when:
      - {if: 'answer.severity == "critical"', goto: note}
      - {else: true, goto: quiet}
  note:
    kind: tool
    command: [scripts/note.sh, "{{ answer.count }}"]
    stdin: "severity {{ answer.severity }}"
    timeout_secs: 30
    on: {ok: alarm, nonzero: broken, timeout: broken}
  quiet: {kind: terminal, status: ok, reason: nothing}
  alarm: {kind: terminal, status: failed, exit_code: 20, reason: alarm}
  broken: {kind: terminal, status: failed, reason: broken}
END
	printf '%s\n' '#!/bin/sh' '{ cat; echo; echo "count $1"; } >note.txt' >watch/scripts/note.sh
	chmod +x watch/scripts/note.sh
	cat >watch/rehearsal/critical/case.yaml <<'END'
description: a critical advisory raises the alarm
expect:
  end: alarm
  exit_code: 20
  path: [query, judge, note, alarm]
  vars: {answer: {count: 3}}
  files: {note.txt: {contains: "severity critical\ncount 3"}}
END
	recorded critical '{"state":"query","match":{"argv":["curl","api.example/PyYAML"]},"fact":{"stdout":"{\"severity\":\"critical\",\"count\":3}"}}'
}

recorded() { # CASE LINE...
	mkdir -p "watch/rehearsal/$1"
	printf '%s\n' "${@:2}" >"watch/rehearsal/$1/tools.jsonl"
}

only() { # EXPECTATION LINE...: a case of its own
	rm -r watch/rehearsal/*
	recorded only "${@:2}"
	echo "expect: $1" >watch/rehearsal/only/case.yaml
	run --separate-stderr agent6 machine rehearse --format text watch
	echo "$output" "$stderr"
}

@test "a recorded step is not executed, needs no grant, and is reduced like a real one; others run" {
	run --separate-stderr agent6 machine rehearse --format text watch
	echo "$output" "$stderr"
	[[ $status -eq 0 && ${lines[0]} == "ok       critical"*"raises the alarm (1 step recorded, not executed)" ]]
	agent6 machine rehearse --format tap watch | grep -qx '#   1 step recorded, not executed'
	agent6 machine rehearse --case critical watch | grep -q '^recorded      1 step, not executed$'
	# Without the recording the grants are missing.
	rm watch/rehearsal/critical/tools.jsonl
	run -2 --separate-stderr agent6 machine rehearse --format text watch
	echo "$output"
	[[ $output == *"refused  critical"*allow_network* && $output == *TOKEN* ]]
}

@test "exit statuses, signals, time-outs, output that does not conform, and attempts" {
	only '{end: broken, path: [query, broken]}' '{"state":"query","fact":{"exit":1}}' '{"state":"query","fact":{"exit":2,"stderr":"no route"}}'
	[[ $status -eq 0 && ${lines[0]} == *"(2 steps recorded, not executed)" ]]
	only '{end: quiet}' '{"state":"query","fact":{"signal":9}}' '{"state":"query","fact":{"stdout":"{\"severity\":\"low\",\"count\":0}"}}'
	[[ $status -eq 0 ]]
	only '{end: broken}' '{"state":"query","fact":{"timed_out":true}}'
	[[ $status -eq 0 ]]
	only '{end: broken}' '{"state":"query","fact":{"stdout":"{\"severity\":\"odd\",\"count\":0}"}}' '{"state":"query","fact":{"stdout":"nothing"}}'
	[[ $status -eq 0 ]]
}

@test "a command that does not match, and lines that are used up, are no outcome: the case differs" {
	only '{status: failed}' '{"state":"query","match":{"argv":["curl","api.example/requests"]},"fact":{}}'
	[[ $status -eq 1 && ${lines[1]} == "    state query, step 1: the command does not match tools.jsonl:1: argv: "*'"api.example/requests"'* ]]
	only '{status: failed}' '{"state":"query","fact":{"exit":1}}'
	[[ $status -eq 1 && ${lines[1]} == "    state query, step 1: tools.jsonl has no line left for it" ]]
	only '{end: alarm}' '{"state":"query","fact":{"stdout":"{\"severity\":\"critical\",\"count\":3}"}}' \
		'{"state":"note","match":{"stdin":"severity low"},"fact":{}}'
	[[ $status -eq 1 && ${lines[1]} == "    state note, step 3: the command does not match tools.jsonl:2: stdin: "*'"severity low"'* ]]
	# Lines that nothing asks for count as left over.
	only '{end: broken}' '{"state":"query","fact":{"timed_out":true}}' '{"state":"note","fact":{}}'
	[[ $status -eq 1 && ${lines[1]} == "    left_over: expected 0 lines of the cassette, got 1" ]]
}

@test "an expectation that nothing can prove is refused, with the state" {
	only '{end: quiet, egress: []}' '{"state":"query","fact":{"exit":1}}'
	[[ $status -eq 2 && $stderr == *"case.yaml:1:22: error[rehearsal-case]: this cannot be told: state query is recorded"* ]]
	only '{end: alarm, files: {note.txt: {contains: x}}}' '{"state":"note","fact":{}}'
	[[ $status -eq 2 && $stderr == *"case.yaml:1:22: error[rehearsal-case]: this cannot be told: state note is recorded"* ]]
}

@test "each faulty line is refused with its place, by check as well" {
	local line
	while IFS='|' read -r place line; do
		only '{end: quiet}' '{"state":"query","fact":{}}' "$line"
		[[ $status -eq 2 && $stderr == *"rehearsal/only/tools.jsonl:2:$place"* ]]
		run -2 --separate-stderr agent6 machine check watch
		[[ $stderr == *"tools.jsonl:2:$place"* ]]
	done <<'END'
1: error[rehearsal-case]: the machine has no such state|{"state":"qery","fact":{}}
1: error[rehearsal-case]: only a tool state can be recorded here|{"state":"judge","fact":{}}
1: error[rehearsal-case]: a command ends in one way|{"state":"query","fact":{"exit":1,"signal":9}}
26: error[rehearsal-case]: unknown key `exti`|{"state":"query","fact":{"exti":1}}
33: error[rehearsal-case]: `exit` must be an exit status|{"state":"query","fact":{"exit":256}}
END
}

@test "a rehearsal that was killed goes on behind the steps that it has taken" {
	sed -i 's/    retry: .*//; s/{if: .answer.severity == "critical"., goto: note}/{if: "answer.count > 0", goto: note}/' watch/machine.yaml
	printf '%s\n' '#!/bin/sh' '[ -e again ] || { touch again; sleep 60; }' '{ cat; echo; echo "count $1"; } >note.txt' >watch/scripts/note.sh
	"$AGENT6_BIN/agent6" machine rehearse --case critical --dir kept watch >out 2>&1 3>&- &
	local run=$!
	eventually test -e kept/workspace/again
	kill -KILL "$run"
	wait "$run" || true
	run --separate-stderr agent6 machine rehearse --case critical --dir kept watch
	echo "$output" "$stderr"
	[[ $status -eq 0 && $output == *"alarm"* ]]
}

@test "docs/rehearsing.md names every key of a recorded step" {
	local key
	while read -r key; do
		grep -q "\`$key\`" "$AGENT6_SRC/docs/rehearsing.md" || { echo "no word of $key"; return 1; }
	done < <(jq -r '[.. | objects | .properties? // empty | keys[]] | unique[]' "$AGENT6_SRC/schema/tools.schema.json")
}
