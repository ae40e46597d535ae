#!/usr/bin/env bats
# Fixed parameters: limits and hosts that a start gives, in the run, its journal and what is told of it.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
	machine_file looks <<'END'
initial: look
budget: {max_transitions: 20, max_usd: "{{ cap }}"}
vars:
  operator:
    limit: {type: int, value: 30, description: seconds for a look}
    tries: {type: int, min: 1, max: 9}
    cap: {type: float, value: 0.5}
    host: {type: str, value: "one.example:443"}
    pause: {type: int, value: 3600}
states:
  look:
    kind: tool
    command: [sh, -c, 'for name in one two; do curl -s --max-time 9 "https://$name.example:443/"; done; sleep 3; exit 1']
    timeout_secs: "{{ limit }}"
    max_visits: "{{ tries }}"
    allow_network: ["{{ host }}"]
    on: {ok: stop, nonzero: look, timeout: late, exhausted: stop}
  rest: {kind: wait, every_secs: "{{ pause }}", on: {tick: look, signal: stop}}
  stop: {kind: terminal, status: ok, reason: stopped}
  late: {kind: terminal, status: ok, exit_code: 20, reason: late}
END
	sed -i 's/nonzero: look,/nonzero: rest,/' "$SCRATCH/looks/machine.yaml"
	echo 'sandbox: {tool_network: only_explicit_states}' >"$SCRATCH/config.yaml"
}

looks() { # [OPTION...]
	agent6 machine run --config "$SCRATCH/config.yaml" "$@" "$SCRATCH/looks"
}

refusals() { # ID: endpoints that were not listed
	journal "$1" | jq -r 'select(.t == "egress" and .refusals["host not listed"]) | .endpoint' | sort -u
}

@test "a start gives the time, and a resume keeps it" {
	run -20 looks --set tries=1 --set limit=1
	[[ $output == *"timeout -> late"* ]]
	run -0 looks --id longer --set tries=1 --exit-on-wait
	[[ $output == *"nonzero -> rest"* ]]
	run -2 looks --id longer --set tries=1 --set limit=1
	[[ $output == *"began with another value of"* ]]
}

@test "a start gives the visits: run, snapshot and replay agree" {
	sed -i "s/command: .*/command: [sh, -c, 'exit 1']/; s/nonzero: rest,/nonzero: look,/; s/sleep 3; //; s/, signal: stop/, signal: stop/" "$SCRATCH/looks/machine.yaml"
	sed -i '/^  rest:/d; /^    pause:/d' "$SCRATCH/looks/machine.yaml"
	local tries
	for tries in 1 4; do
		run -0 looks --id "looks$tries" --set "tries=$tries"
		[[ $(journal "looks$tries" | jq -r 'select(.fact.exit == 1) | .seq' | wc -l) -eq $tries ]]
		[[ $(journal "looks$tries" | jq -c 'select(.label == "exhausted") | .fact') == "{\"visits\":$tries}" ]]
		agent6 machine replay --quiet "looks$tries"
		agent6 machine replay --quiet --with "$SCRATCH/looks" "looks$tries"
		agent6 machine verify "looks$tries"
	done
	agent6 machine report looks4 -o "$SCRATCH/page.html"
	grep -q 'look.max_visits: tries = 4' "$SCRATCH/page.html"
}

@test "the broker passes the host that the start gave, and no other" {
	need curl
	run -0 looks --set tries=1 --exit-on-wait
	[[ $(refusals looks) == two.example:443 ]]
	run -0 looks --id two --set tries=1 --set host=two.example:443 --exit-on-wait
	[[ $(refusals two) == one.example:443 ]]
	agent6 machine report two -o "$SCRATCH/page.html"
	grep -q 'look.allow_network: host = .*two.example:443' "$SCRATCH/page.html"
}

@test "a value that a limit or a host cannot be is refused before anything runs" {
	run -2 looks --set tries=10
	[[ $output == *"--set tries: tries: 10 is more than 9, the maximum"* ]]
	run -2 looks --set tries=1 --set limit=0
	[[ $output == *"--set limit: limit: timeout_secs of state look takes a number of seconds from 1 to 3155760000, a hundred years, and not 0"* ]]
	run -2 looks --set tries=1 --set cap=0
	[[ $output == *"--set cap: cap: max_usd of the budget takes an amount in USD above 0, and not 0"* ]]
	run -2 looks --set tries=1 --set pause=0
	[[ $output == *"--set pause: pause: every_secs must be at least 1"* ]]
	local host
	for host in example.org 'a:1,b:2' 'a:0' '*:443' 'a b:1' ''; do
		run -2 looks --set tries=1 --set "host=$host"
		[[ $output == *"--set host: host: allow_network of state look takes HOST:PORT, and not \"$host\""* ]]
	done
	echo 'host: example.org' >"$SCRATCH/parameters.yaml"
	run -2 looks --set tries=1 --params "$SCRATCH/parameters.yaml"
	[[ $output == *"allow_network of state look takes HOST:PORT"* ]]
	[[ -z $(find "$SCRATCH/state" -name journal.jsonl) ]]
}

@test "--report, inspect and --help say which parameters are fixed, with their values" {
	run -0 agent6 machine check --report "$SCRATCH/looks"
	[[ $output == *"
  parameters   limit: int = 30, fixed: seconds for a look
               tries: int, required, fixed (1 to 9)
               cap: float = 0.5, fixed
               host: str = \"one.example:443\", fixed
               pause: int = 3600, fixed
"*"
  egress       one.example:443
  fixed        budget.max_usd: cap = 0.5
               look.timeout_secs: limit = 30
               look.allow_network: host = \"one.example:443\"
               look.max_visits: tries, which a start gives
               rest.every_secs: pause = 3600
  most visits  look=9
"*"usd=0.5"*"timeout_secs=30"* ]]
	[[ $(agent6 machine check --report --format json "$SCRATCH/looks" | jq -c '.[0].fixed[1:4]') == '[{"key":"timeout_secs","parameter":"limit","state":"look","value":30},{"key":"allow_network","parameter":"host","state":"look","value":"one.example:443"},{"key":"max_visits","parameter":"tries","state":"look","value":null}]' ]]
	run -0 agent6 machine run "$SCRATCH/looks" --help
	[[ $output == *"tries: int, required, fixed (1 to 9)"* ]]
	[[ $(agent6 machine inspect --json "$SCRATCH/looks" | jq -c '[.interface.parameters[].fixed]') == '[true,true,true,true,true]' ]]
}

@test "--against: a higher value, or another host, is a widening" {
	local change
	for change in 's/value: 30/value: 31/' 's/max: 9/max: 10/' 's/value: 0.5/value: 0.6/' 's/one.example:443"/one.example:444"/' \
		's/timeout_secs: "{{ limit }}"/timeout_secs: 40/' 's/host: {type: str, .*/host: {type: str}/'; do
		rm -rf "$SCRATCH/new"
		cp -r "$SCRATCH/looks" "$SCRATCH/new"
		sed -i "$change" "$SCRATCH/new/machine.yaml"
		run -4 agent6 machine check --against "$SCRATCH/looks" "$SCRATCH/new"
		[[ $output == *"warning[confinement-widened]"* ]]
	done
	sed 's/value: 30/value: 29/; s/max: 9/max: 8/; s/value: 0.5/value: 0.4/' "$SCRATCH/looks/machine.yaml" >"$SCRATCH/new/machine.yaml"
	run -0 agent6 machine check --against "$SCRATCH/looks" "$SCRATCH/new"
	[[ $output == *"limit max_visits was 9 and is 8"* && $output == *"timeout_secs was 30 and is 29"* ]]
}

@test "machine test visits as often as the fixture says" {
	sed -i 's/nonzero: rest,/nonzero: look,/; /^  rest:/d; /^    pause:/d' "$SCRATCH/looks/machine.yaml"
	echo '{"tries": 2}' >"$SCRATCH/fixture.json"
	run -0 agent6 machine test --blackboard "$SCRATCH/fixture.json" "$SCRATCH/looks"
	[[ $output == *"4 of 4 edges taken"*"0 failures"* ]]
	run -0 agent6 machine rehearse "$SCRATCH/looks" --set tries=1 --config "$SCRATCH/config.yaml"
	[[ $output == *"exhausted -> stop"*"visited 1 time before"* ]]
}
