#!/usr/bin/env bats
# Agent states against the loopback provider: spend that no crash and no time-out loses, budgets.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
}

# hello NAME DELAY_MS [LINE-OF-THE-STATE]: a turn that reads a file, then one that is DELAY_MS late
hello() {
	mkdir -p "$SCRATCH/$1/rehearsal/workspace"
	echo "Ada, from Turin" >"$SCRATCH/$1/rehearsal/workspace/note.txt"
	machine_file "$1" <<END
initial: greet
budget: {max_transitions: 9, max_usd: 5.0}
schemas: {greeting: {text: str}}
vars: {agent: {greeting: {type: greeting, default: {text: ""}}}}
states:
  greet:
    kind: agent
    prompt: Read note.txt and greet.
    output_schema: greeting
    capture: {finish_json: greeting}
    timeout_secs: ${4-60}
    ${3-description: greets}
    on: {ok: good, failed: bad, budget_exhausted: poor, timeout: late}
  good: {kind: terminal, status: ok, reason: "{{ greeting.text }}"}
  bad: {kind: terminal, status: failed, reason: bad}
  poor: {kind: terminal, status: failed, reason: poor}
  late: {kind: terminal, status: failed, reason: late}
END
	cat >"$SCRATCH/$1/rehearsal/a.jsonl" <<END
{"state":"greet","match":{"turn":0},"reply":{"text":"reading","tool_calls":[{"name":"read_file","arguments":{"path":"note.txt"}}],"usage":{"input_tokens":600,"output_tokens":40}}}
{"state":"greet","match":{"turn":1},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"hello"}}],"usage":{"input_tokens":700,"output_tokens":30},"delay_ms":$2}}
END
}

rehearsed() { # DIR FILTER
	grep -a '"}$' "$1"/state/*/machines/*/journal.jsonl | jq -r "$2"
}

@test "what a killed attempt spent is booked once, however often it is killed" {
	hello killed 1500
	local i
	for i in 1 2; do
		agent6 machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/killed" >/dev/null 2>&1 3>&- &
		local runner=$!
		spent() { grep -q "\"execution\":$i," "$SCRATCH"/dir/state/*/machines/killed/states/1-greet/spend; }
		eventually spent
		kill -9 "$(cut -d' ' -f1 "$SCRATCH"/dir/state/*/machines/killed/lock)"
		wait "$runner" || true
	done
	agent6 machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/killed"
	[[ $(rehearsed "$SCRATCH/dir" 'select(.t == "spend") | .input_tokens' | tr '\n' ' ') == "600 600 " ]]
	[[ $(rehearsed "$SCRATCH/dir" 'select(.t == "end") | "\(.totals.input_tokens) \(.totals.output_tokens)"') == "2500 150" ]]
	[[ $(rehearsed "$SCRATCH/dir" 'select(.t == "end") | .totals.usd > 0') == true ]]
}

@test "a time-out is an outcome, and what was spent before it counts" {
	hello late 30000 "" 2
	run agent6 machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/late"
	[[ $status -eq 1 ]]
	[[ $(rehearsed "$SCRATCH/dir" 'select(.t == "step") | "\(.label) \(.fact.outcome) \(.fact.input_tokens)"') == "timeout timeout 600" ]]
}

@test "attempts share their state's budget" {
	hello poor 0 "max_output_tokens: 40"
	sed -i 's/^    timeout_secs/    retry: {on: [budget_exhausted], max: 2, backoff_secs: 0}\n&/' "$SCRATCH/poor/machine.yaml"
	run agent6 machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/poor"
	echo "$output"
	[[ $status -eq 1 ]]
	[[ $(rehearsed "$SCRATCH/dir" 'select(.fact) | "\(.t) \(.fact.output_tokens)"' | tr '\n' ' ') == "retry 40 retry 0 step 0 " ]]
	[[ $(rehearsed "$SCRATCH/dir" 'select(.t == "step") | .label') == budget_exhausted ]]
}

@test "a provider without a key, or without a price under a hard budget, is refused before anything runs" {
	hello keyless 0
	mkdir -p "$SCRATCH/config/agent6"
	cat >"$SCRATCH/config/agent6/config.yaml" <<'END'
providers:
  far: {api_format: anthropic, base_url: "https://api.example.com", api_key_env: NO_SUCH_KEY}
models: {worker: {provider: far, model: some-model}}
END
	run go keyless
	echo "$output"
	[[ $status -eq 2 && $output == *"state greet"*"price"* ]]
	sed -i 's/, max_usd: 5.0//' "$SCRATCH/keyless/machine.yaml"
	run go keyless
	echo "$output"
	[[ $status -eq 2 && $output == *"state greet"*"NO_SUCH_KEY"* ]]
	[[ ! -s $(instance keyless)/journal.jsonl ]]
}
