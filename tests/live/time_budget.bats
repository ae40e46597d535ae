#!/usr/bin/env bats
# budget.max_secs: the time of a run ends it in every kind of state, and what was spent is booked.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
}

# lines NAME FILTER: of its journal
lines() {
	jq -r "$2" "$SCRATCH"/state/*/machines/"$1"/journal.jsonl
}

# timed NAME SECS <STATES
timed() {
	machine_file "$1" <<END
initial: work
budget: {max_transitions: 9, max_secs: $2}
states:
$(cat)
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
}

ended_in() { # NAME in|before
	run -3 --separate-stderr agent6 machine run "$SCRATCH/$1"
	[[ $output$stderr == *"budget.max_secs (1) is used up $2 state work"* ]]
	agent6 machine verify "$1"
	run -0 agent6 machine replay "$1"
}

@test "a tool that runs when the time is used up is killed and not committed" {
	timed tool 1 <<'END'
  work: {kind: tool, command: [sh, -c, 'sleep 600 & sleep 600'], timeout_secs: 900, on: {ok: good, nonzero: bad, timeout: bad}}
END
	ended_in tool in
	[[ $(lines tool .t | tr '\n' ' ') == "begin end " ]]
	# The state's own time-out, which comes first, is an outcome as ever.
	sed -i 's/timeout_secs: 900/timeout_secs: 1/; s/max_secs: 1/max_secs: 100/' "$SCRATCH/tool/machine.yaml"
	run -1 agent6 machine run --id own "$SCRATCH/tool"
	[[ $(lines own 'select(.t == "step").label') == timeout ]]
}

@test "a wait, a retry and a parked run end with the time" {
	timed waits 1 <<'END'
  work: {kind: wait, every_secs: 3600, on: {tick: bad, signal: good}}
END
	ended_in waits before
	timed signal 1 <<'END'
  work: {kind: wait, on: {signal: good}}
END
	sed -i '/^  bad:/d' "$SCRATCH/signal/machine.yaml"
	ended_in signal before
	timed retries 1 <<'END'
  work:
    kind: tool
    command: ["false"]
    timeout_secs: 5
    retry: {on: [nonzero], max: 3, backoff_secs: 3600}
    on: {ok: good, nonzero: bad, timeout: bad}
END
	ended_in retries before
	run -0 agent6 machine run --exit-on-wait --id parked "$SCRATCH/waits"
	sleep 1
	run -3 agent6 machine run --exit-on-wait --id parked "$SCRATCH/waits"
}

@test "what an agent spent until the time was used up is booked" {
	mkdir -p "$SCRATCH/agent/rehearsal/workspace"
	echo note >"$SCRATCH/agent/rehearsal/workspace/note.txt"
	machine_file agent <<'END'
initial: greet
budget: {max_transitions: 9, max_usd: 5.0, max_secs: 4}
schemas: {greeting: {text: str}}
vars: {agent: {greeting: {type: greeting, default: {text: ""}}}}
states:
  greet:
    kind: agent
    prompt: Read note.txt and greet.
    output_schema: greeting
    capture: {finish_json: greeting}
    timeout_secs: 200
    on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: "{{ greeting.text }}"}
  bad: {kind: terminal, status: failed, reason: bad}
END
	cat >"$SCRATCH/agent/rehearsal/a.jsonl" <<'END'
{"state":"greet","match":{"turn":0},"reply":{"text":"reading","tool_calls":[{"name":"read_file","arguments":{"path":"note.txt"}}],"usage":{"input_tokens":600,"output_tokens":40}}}
{"state":"greet","match":{"turn":1},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"hello"}}],"usage":{"input_tokens":700,"output_tokens":30},"delay_ms":100000}}
END
	run -3 agent6 machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/agent"
	local journal
	journal=$(echo "$SCRATCH"/dir/state/*/machines/agent/journal.jsonl)
	[[ $(jq -r .t "$journal" | tr '\n' ' ') == *"spend end " ]]
	[[ $(jq -r 'select(.t == "end") | "\(.cause) \(.transitions) \(.totals.input_tokens > 600)"' "$journal") == "budget 0 true" ]]
}

@test "replay with another time says where that would have ended" {
	timed replayed 100 <<'END'
  work: {kind: tool, command: [sleep, "1.2"], timeout_secs: 9, on: {ok: after, nonzero: bad, timeout: bad}}
  after: {kind: tool, command: ["true"], timeout_secs: 9, on: {ok: good, nonzero: bad, timeout: bad}}
END
	run -0 agent6 machine run "$SCRATCH/replayed"
	run -0 agent6 machine replay replayed --with "$SCRATCH/replayed"
	sed -i 's/max_secs: 100/max_secs: 1/' "$SCRATCH/replayed/machine.yaml"
	run ! agent6 machine replay replayed --with "$SCRATCH/replayed"
	[[ $output == *"budget.max_secs (1) is used up before state after"* ]]
}

@test "check --against calls a longer time wider, and no time at all" {
	timed old 10 <<'END'
  work: {kind: tool, command: ["true"], timeout_secs: 5, on: {ok: good, nonzero: bad, timeout: bad}}
END
	cp -r "$SCRATCH/old" "$SCRATCH/new"
	sed -i 's/max_secs: 10/max_secs: 11/' "$SCRATCH/new/machine.yaml"
	run ! agent6 machine check "$SCRATCH/new" --against "$SCRATCH/old"
	[[ $output == *"limit seconds was 10 and is 11"* ]]
	sed -i 's/, max_secs: 11//' "$SCRATCH/new/machine.yaml"
	run ! agent6 machine check "$SCRATCH/new" --against "$SCRATCH/old"
	[[ $output == *"limit seconds was 10 and is unlimited"* ]]
	run -0 agent6 machine check "$SCRATCH/old" --against "$SCRATCH/new"
}
