#!/usr/bin/env bats
# The unit templates of examples/systemd.

load ../kit/common
load machine

setup() {
	live_setup
}

@test "systemd finds nothing wrong with the units" {
	need systemd-analyze
	mkdir -m 700 "$SCRATCH/runtime"
	cp "$AGENT6_SRC"/examples/systemd/agent6@.* "$SCRATCH/"
	XDG_RUNTIME_DIR=$SCRATCH/runtime run systemd-analyze --user --man=no verify "$SCRATCH/agent6@triage.service" "$SCRATCH/agent6@triage.timer"
	echo "$output"
	[[ $status -eq 0 && -z $output ]]
}

@test "the service's command starts a machine and leaves it waiting" {
	machine_file triage <<'END'
initial: park
budget: {max_transitions: 9}
states:
  park: {kind: wait, every_secs: 3600, on: {tick: good, signal: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	local command
	command=$(sed -n "s/^ExecStart=\/bin\/sh -c '\(.*\)'$/\1/p" "$AGENT6_SRC/examples/systemd/agent6@.service")
	command=${command//\$\$/\$}
	command=${command//%i/mine}
	cd /
	PATH=$AGENT6_BIN:$PATH WORKSPACE=$SCRATCH/ws BUNDLE=$SCRATCH/triage sh -c "$command"
	cd "$SCRATCH/ws"
	[[ $(agent6 machine status mine --json | jq -r .status) == waiting ]]
	agent6 machine poke mine
	PATH=$AGENT6_BIN:$PATH WORKSPACE=$SCRATCH/ws BUNDLE=$SCRATCH/triage sh -c "$command"
	[[ $(agent6 machine status mine --json | jq -r .status) == ok ]]
}
