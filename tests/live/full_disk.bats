#!/usr/bin/env bats
# A state directory that fills up: the machine stops with a message, and goes on once there is room.

load ../kit/common
load machine

setup() {
	need jq
	need_root
	live_setup
	mkdir "$SCRATCH/state"
	mount -t tmpfs -o size=1m,mode=700 tmpfs "$SCRATCH/state"
	machine_file filler <<'END'
initial: work
budget: {max_transitions: 400}
vars: {code: {n: {type: int, default: 0}}}
schemas: {r: {n: int, pad: str}}
states:
  work:
    kind: tool
    command: [sh, -c, 'cat >/dev/null; head -c 8000 /dev/zero | tr "\\0" x >pad; printf "{\"n\":%s,\"pad\":\"%s\"}" $((${AGENT6_STEP_KEY#filler-} / 2 + 1)) "$(cat pad)"']
    timeout_secs: 20
    output_schema: r
    capture: {set: {n: "{{ result.n }}"}}
    on: {ok: enough, nonzero: bad, timeout: bad}
  enough: {kind: branch, when: [{if: "n >= 150", goto: good}, {else: true, goto: work}]}
  good: {kind: terminal, status: ok, reason: "{{ n }}"}
  bad: {kind: terminal, status: failed, reason: bad}
END
}

teardown() {
	[[ ! -d $SCRATCH/state ]] || umount "$SCRATCH/state"
}

@test "a full disk stops the machine, committed steps stay, and room lets it go on" {
	run go filler
	echo "$output"
	[[ $status -eq 5 ]]
	[[ $output == *"No space left on device"* ]]
	agent6 machine verify filler
	local before
	before=$(journal filler | grep -c '"state":"work"')
	[[ $before -gt 20 ]]
	run go filler
	[[ $status -eq 5 ]]
	mount -o remount,size=16m "$SCRATCH/state"
	go filler
	agent6 machine verify filler
	[[ $(journal filler | jq -r 'select(.t == "end") | .reason') == 150 ]]
	[[ $(journal filler | jq -r 'select(.t == "step") | .seq' | uniq -d) == "" ]]
	[[ $(journal filler | grep -c '"state":"work"') -ge $before ]]
}

@test "a disk that is full before the start is named, and no instance is left on it" {
	mkdir "$SCRATCH/state/elsewhere"
	tool_machine quick '[touch, ran]'
	go quick # makes the directories above an instance's own
	rm -r "$SCRATCH"/state/*/machines/*
	head -c 2M /dev/zero >"$SCRATCH/state/elsewhere/fill" || true
	run go filler
	echo "$output"
	[[ $status -eq 2 && $output == "agent6: cannot write $(echo "$SCRATCH"/state/*/machines)/filler/lock: No space left on device" ]]
	agent6 machine list --json | jq -e '. == []'
}

@test "a limit of file sizes stops the machine the same way" {
	run bash -c "ulimit -f 64; exec '$AGENT6_BIN/agent6' machine run --quiet '$SCRATCH/filler'"
	echo "$output"
	[[ $status -eq 5 && $output == *"File too large"* ]]
	agent6 machine verify filler
	[[ $(journal filler | grep -c '"state":"work"') -gt 2 ]]
}

@test "on a full disk no agent spends what nobody could book" {
	mkdir -p "$SCRATCH/rich/rehearsal/workspace"
	machine_file rich <<'END'
initial: fill
budget: {max_transitions: 9, max_usd: 5.0}
schemas: {greeting: {text: str}}
vars: {agent: {greeting: {type: greeting, default: {text: ""}}}}
states:
  fill:
    kind: tool
    command: [sh, -c, 'tr "\\0" x </dev/zero >"$AGENT6_MACHINE_DATA_DIR/full"; true']
    timeout_secs: 20
    on: {ok: greet, nonzero: bad, timeout: bad}
  greet:
    kind: agent
    prompt: Greet.
    output_schema: greeting
    capture: {finish_json: greeting}
    timeout_secs: 60
    on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: "{{ greeting.text }}"}
  bad: {kind: terminal, status: failed, reason: bad}
END
	echo '{"state":"greet","match":{"turn":0},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"hello"}}],"usage":{"input_tokens":700,"output_tokens":30}}}' \
		>"$SCRATCH/rich/rehearsal/a.jsonl"
	run agent6 machine rehearse --dir "$SCRATCH/state/d" "$SCRATCH/rich"
	echo "$output"
	[[ $status -eq 5 && $output == *"state greet: its spending could not be noted, so it was not started"*"No space left"* ]]
	rm "$SCRATCH"/state/d/state/*/machines/rich/data/full
	agent6 machine rehearse --dir "$SCRATCH/state/d" "$SCRATCH/rich"
}
