#!/usr/bin/env bats
# A handful of rows of the network matrix, really started: what a command reaches on the host, on both
# profiles, and what is refused before anything is run. All rows: tests/unit/run_network_test.c.

load ../kit/common
load machine

setup() {
	need jq
	need python3
	live_setup
	mkdir -p "$SCRATCH/config/agent6"
	exec {life}> >(exec python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as f: print(s.getsockname()[1], file=f)
import os; os.rename(sys.argv[1] + ".new", sys.argv[1])
sys.stdin.read()' "$SCRATCH/port" 3>&-)
	eventually test -s "$SCRATCH/port"
	PORT=$(cat "$SCRATCH/port")
}

teardown() {
	exec {life}>&-
}

# As an ordinary user: under root the hardened profile refuses to run a command as root.
# row PROFILE AGENT TOOL ASKED: starts a machine whose only command asks for a connection to the host
row() {
	printf 'sandbox: {profile: %s, agent_network: %s, tool_network: %s}\n' "$1" "$2" "$3" \
		>"$SCRATCH/config/agent6/config.yaml"
	rm -rf "$SCRATCH/state"
	machine_file row <<END
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: [bash, -c, ': </dev/tcp/127.0.0.1/$PORT']
    allow_network: $4
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	mkdir -p "$SCRATCH/state"
	give_user "$SCRATCH/config" "$SCRATCH/state" "$SCRATCH/ws" "$SCRATCH/row"
	run as_user env XDG_CONFIG_HOME="$SCRATCH/config" "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/row"
	echo "$*: $status $output"
}

@test "a tool that does not ask is offline on both profiles" {
	local profile
	for profile in strict hardened; do
		row "$profile" providers only_explicit_states auto
		[[ $status -eq 1 && $(fact row .exit) == 1 ]]
		row "$profile" open allow block
		[[ $status -eq 1 && $(fact row .exit) == 1 ]]
	done
}

@test "a tool that asks reaches the host where the operator lets it" {
	local profile
	for profile in strict hardened; do
		row "$profile" providers only_explicit_states allow
		[[ $status -eq 0 ]]
		row "$profile" open allow allow
		[[ $status -eq 0 ]]
	done
}

@test "a list is not the host's network" {
	row strict providers only_explicit_states '["a.example:443"]'
	[[ $status -eq 1 && $(fact row .exit) == 1 ]]
}

@test "refusals at start name state, setting, reason and fix, and run nothing" {
	local profile asked
	for profile in strict hardened; do
		for asked in allow '["a.example:443"]'; do
			row "$profile" providers block "$asked"
			[[ $status -eq 2 && $output == *"state work"*"sandbox.tool_network is block"*"; "* ]]
			[[ ! -s $(instance row)/journal.jsonl ]]
		done
	done
	row hardened providers only_explicit_states '["a.example:443"]'
	[[ $status -eq 2 && $output == *"state work"*"sandbox.profile hardened"*"sandbox.profile strict"* ]]
	[[ ! -s $(instance row)/journal.jsonl ]]
}

@test "tool_network allow without agent_network open does not load, on any profile" {
	local profile agent
	for profile in auto strict hardened; do
		for agent in providers local; do
			row "$profile" "$agent" allow auto
			[[ $status -eq 2 && $output == *config.yaml:1:*"agent_network: open"* ]]
		done
	done
}
