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

@test "a limit of file sizes stops the machine the same way" {
	run bash -c "ulimit -f 64; exec '$AGENT6_BIN/agent6' machine run --quiet '$SCRATCH/filler'"
	echo "$output"
	[[ $status -eq 5 && $output == *"File too large"* ]]
	agent6 machine verify filler
	[[ $(journal filler | grep -c '"state":"work"') -gt 2 ]]
}
