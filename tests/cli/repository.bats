#!/usr/bin/env bats
# The repository that a workspace belongs to: whose settings apply, and where its instances lie.

load ../kit/common
load ../live/machine

setup() {
	need jq git
	live_setup
	TOP=$SCRATCH/top
	mkdir -p "$TOP/sub"
	git -C "$TOP" init -q
	cd "$TOP" || return
	STATE_OF_TOP=$SCRATCH/state/top-$(printf %s "$(pwd -P)" | sha256sum | cut -c1-12)
	mkdir -p "$STATE_OF_TOP"
	chmod 700 "$SCRATCH/state" "$STATE_OF_TOP"
	(umask 077 && echo 'agent: {max_iterations: 7}' >"$STATE_OF_TOP/config.yaml")
	cd sub || return
}

@test "the first line records the workspace and the repository whose settings apply" {
	parked
	journal parked | jq -se --arg top "$TOP" '.[0] | .t == "begin" and .repository == $top and
		.workspace == $top + "/sub"'
	[ -d "$STATE_OF_TOP/machines/parked" ]
}

@test "a git init in the workspace of an unfinished run changes neither its settings nor its place" {
	parked
	git init -q .
	[ "$(agent6 config get agent.max_iterations)" = 7 ]
	run agent6 machine list
	[[ $status -eq 0 && $output == *parked*waiting* ]]
	agent6 machine poke parked --message on
	run agent6 machine run "$SCRATCH/parked"
	echo "$output"
	[[ $status -eq 0 && $output == *"warning[config-held]"*"instance parked began"*"prune --unfinished parked"* ]]
	[ "$(find "$SCRATCH/state" -name journal.jsonl | wc -l)" -eq 1 ]
}

@test "nor does one that vanishes, or one beside an old run that was started elsewhere in the repository" {
	git init -q .
	parked
	rm -rf .git
	run agent6 machine status parked
	[[ $status -eq 0 && $output == *waiting* ]]
	run agent6 check config
	[[ $output == *"config-held"*"$TOP/sub when instance parked began in it"* ]]
	cd .. # the rest of the repository is what it was
	run agent6 check config
	[[ $status -eq 0 && $output != *config-held* ]]
}

@test "once nothing is unfinished the nearest repository counts, and the outer one's settings are named" {
	parked
	git init -q .
	agent6 machine poke parked --message on
	go parked
	[ "$(agent6 config get agent.max_iterations)" != 7 ]
	tool_machine say '[echo, hello]'
	run agent6 machine run "$SCRATCH/say"
	echo "$output"
	[[ $status -eq 0 && $output == *"$STATE_OF_TOP/config.yaml: warning[config-nested]"* ]]
	[[ $output == *"the repository $TOP do not apply in $TOP/sub"* ]]
	[[ $(instance say) != "$STATE_OF_TOP"/* ]]
	inner=$(dirname "$(dirname "$(instance say)")")
	(umask 077 && echo 'agent: {max_iterations: 8}' >"$inner/config.yaml")
	run agent6 check config
	[[ $status -eq 0 && $output != *config-nested* ]]
	[ "$(agent6 config get agent.max_iterations)" = 8 ]
}

@test "an instance of another workspace of the repository keeps nothing" {
	(cd .. && parked)
	git init -q .
	run agent6 machine list
	[[ $status -eq 0 && $output != *parked* ]]
}

@test "a run that goes on in another directory of its repository says so" {
	parked
	cd ..
	run agent6 machine run --exit-on-wait "$SCRATCH/parked"
	[[ $status -eq 0 && $output == *"this run began in the workspace $TOP/sub; it goes on in $TOP"* ]]
}

@test "a start in a directory that was reached through a link says which path commands find" {
	ln -s "$TOP" "$SCRATCH/link"
	cd "$SCRATCH/link/sub"
	tool_machine say '[pwd]'
	run agent6 machine run "$SCRATCH/say"
	echo "$output"
	[[ $status -eq 0 && $output == *"the workspace is $TOP/sub, and commands find it by this path alone; $SCRATCH/link/sub leads there through a link"* ]]
	cd "$TOP/sub"
	run agent6 machine run --id again "$SCRATCH/say"
	[[ $status -eq 0 && $output != *"through a link"* ]]
}

@test "an instance is the same by the workspace's own path and by a link to it" {
	ln -s "$TOP" "$SCRATCH/link"
	parked # begun by the workspace's own path
	cd "$SCRATCH/link/sub"
	parked waits # begun by the link
	local dir id
	for dir in "$SCRATCH/link/sub" "$TOP/sub"; do
		cd "$dir"
		[[ $(agent6 machine list --json | jq -r '.[].id' | sort | xargs) == "parked waits" ]]
		for id in parked waits; do
			[[ $(agent6 machine status "$id" | head -n 1) == "$id: waiting in state park" ]]
		done
	done
	[[ $(find "$SCRATCH/state" -name journal.jsonl | wc -l) -eq 2 ]]
	agent6 machine poke parked
	cd "$SCRATCH/link/sub"
	agent6 machine run --quiet "$SCRATCH/parked"
	"$AGENT6_BIN/agent6" machine run "$SCRATCH/waits" >"$SCRATCH/output" 2>&1 3>&- &
	cd "$TOP/sub"
	[[ $(agent6 machine status parked | head -n 1) == "parked: ok in state good" ]]
	eventually agent6 machine stop waits
	wait $!
	grep -q 'It is parked before state park' "$SCRATCH/output"
}
