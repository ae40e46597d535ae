# Standard output that is full, closed or no longer read.
load ../kit/common
load flow

setup() {
	flow_setup <<-'END'
		machine: flow
		version: 1
		initial: done
		budget: {max_transitions: 20}
		vars: {}
		states:
		  done: {kind: terminal, status: ok, reason: finished}
	END
}

@test "a report that cannot be printed is no success" {
	local verb
	for verb in --help --version "machine --help" "machine run --help" "machine check ../flow" \
		"machine graph ../flow" "machine inspect --json ../flow" "machine test ../flow" "manual"; do
		run bash -c "'$AGENT6_BIN/agent6' $verb 2>&1 >/dev/full"
		echo "$verb: $status $output"
		[ "$status" -eq 2 ]
		[[ $output == *"standard output: No space left on device"* ]]
		run bash -c "'$AGENT6_BIN/agent6' $verb 2>&1 >&-"
		[ "$status" -eq 2 ]
		[[ $output == *"standard output: "* ]]
	done
}

@test "what was read from a pipe, or drawn by another program, is no success either" {
	need dot
	local verb
	for verb in "check redact" "machine graph --format svg ../flow"; do
		run bash -c "echo text | '$AGENT6_BIN/agent6' $verb 2>&1 >/dev/full"
		echo "$verb: $status $output"
		[ "$status" -eq 2 ]
		[[ $output == *"standard output: No space left on device"* ]]
	done
}

@test "a reader that has read enough is not an error" {
	set -o pipefail
	agent6 completions bash 2>err | true
	agent6 manual 2>>err | head -c 1
	[ ! -s err ]
}

@test "what was done stands, printed or not" {
	run bash -c "'$AGENT6_BIN/agent6' machine run ../flow --id full 2>&1 >/dev/full"
	[ "$status" -eq 0 ]
	[[ $output == *"standard output"* ]]
	agent6 machine verify full
}

@test "an audit trail that has no line yet says so, and is whole" {
	local state
	for state in "$AGENT6_STATE_HOME" "$SCRATCH/missing"; do
		run --separate-stderr -0 env AGENT6_STATE_HOME="$state" "$AGENT6_BIN/agent6" audit
		[[ -z $output && $stderr == *"$state/audit.jsonl: nothing was recorded yet" ]]
		run --separate-stderr -0 env AGENT6_STATE_HOME="$state" "$AGENT6_BIN/agent6" audit --verify --json
		[[ -z $stderr && $output == '{"files":0,"lines":0,"ok":true}' ]]
	done
	mkdir -p "$AGENT6_STATE_HOME"
	echo spoilt >"$AGENT6_STATE_HOME/audit.jsonl"
	run --separate-stderr -5 agent6 audit --verify --json
	[[ $stderr == *"audit.jsonl, line 1"* && $output == '{"files":0,"lines":0,"ok":false}' ]]
}

@test "the trail of a state directory that cannot be written is read" {
	need_root
	local trail=$SCRATCH/trail lock
	mkdir "$trail"
	agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept --quiet
	cp kept/state/audit.jsonl "$trail/"
	for lock in without with; do
		[[ $lock == without ]] || touch "$trail/audit.jsonl.lock"
		run -0 --separate-stderr unshare --mount sh -c 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" &&
			AGENT6_STATE_HOME=$0 "$1" audit --verify' "$trail" "$AGENT6_BIN/agent6"
		echo "$lock: $output$stderr"
		[[ $output == *"the chain is whole" ]]
	done
	rm "$trail/audit.jsonl.lock"
	give_user "$trail"
	chmod 500 "$trail"
	AGENT6_STATE_HOME=$trail run -0 --separate-stderr as_user "$AGENT6_BIN/agent6" audit --verify
	[[ $output == *"the chain is whole" ]]
}

@test "with its standard descriptors closed a run writes no line into its own files" {
	agent6 machine run ../flow --id closed --json 0<&- >&- 2>&-
	agent6 machine verify closed
	[ "$(grep -rl '"t":"begin"' "$AGENT6_STATE_HOME" | grep -vc 'journal.jsonl$')" -eq 0 ]
}

@test "a working directory, bundle or state directory that is not UTF-8 is refused, not lost on the way" {
	local odd=$'\xff'
	mkdir "$odd"
	run --separate-stderr agent6 machine run ../flow --id inside --json
	[ "$status" -eq 0 ]
	cp -r ../flow "$odd/flow"
	run --separate-stderr agent6 machine run "$odd/flow" --id bundle
	[ "$status" -eq 2 ]
	[[ $stderr == *"bundle is not valid UTF-8"* ]]
	run --separate-stderr env AGENT6_STATE_HOME="$SCRATCH/$odd" "$AGENT6_BIN/agent6" machine run ../flow --id state
	[ "$status" -eq 2 ]
	[[ $stderr == *"state directory is not valid UTF-8"* ]]
	cd "$odd" || return
	for verb in "machine run ../../flow" "machine list" "machine check --report ../../flow" "jail -- true"; do
		# shellcheck disable=SC2086
		run --separate-stderr agent6 $verb
		echo "$verb: $status $stderr"
		[ "$status" -eq 2 ]
		[[ $stderr == *"working directory is not valid UTF-8"* ]]
	done
}

@test "what a bundle says gives a build service that reads the log no orders" {
	local verb
	sed -i 's/reason: .*/reason: "##vso[task.setvariable variable=a]b ::add-mask::c ##[error]d", reasons: 1}/' \
		../flow/machine.yaml
	sed -i '1i description: "::stop-commands::e"' ../flow/machine.yaml
	run agent6 machine check ../flow
	echo "$output"
	[[ $output == *"unknown-key"* ]]
	run ! grep -E '##[a-z]*\[|(^|[[:blank:]])::[a-z]' <<<"$output"
	sed -i 's/, reasons: 1//' ../flow/machine.yaml
	for verb in "check --report" "graph" "graph --format text" "run --allow-uncommitted" "status" "replay" "watch" "list"; do
		# shellcheck disable=SC2086
		case $verb in status | replay | watch) run agent6 machine $verb flow ;;
		list) run agent6 machine list ;;
		*) run agent6 machine $verb ../flow ;; esac
		echo "$verb: $output"
		run ! grep -E '##[a-z]*\[|(^|[[:blank:]])::[a-z]' <<<"$output"
	done
}

@test "a replay writes as much at once as fits, a run each line when it is committed" {
	need strace
	SCRATCH+=/many && mkdir "$SCRATCH"
	flow_setup <<-'END'
		machine: flow
		version: 1
		initial: a
		budget: {max_transitions: 200}
		vars: {operator: {n: {type: int, value: 1}}}
		states:
		  a: {kind: branch, when: [{if: n == 1, goto: b}, {else: true, goto: done}]}
		  b: {kind: branch, when: [{if: n == 1, goto: a}, {else: true, goto: done}]}
		  done: {kind: terminal, status: ok, reason: went}
	END
	run -3 agent6 machine run ../flow
	strace -f -o ../run -e trace=write "$AGENT6_BIN/agent6" machine run ../flow --id other >../out 2>&1 || :
	[ "$(grep -c '^[0-9]* *write(1, ' ../run)" -gt 200 ]
	strace -o ../replay -e trace=write "$AGENT6_BIN/agent6" machine replay flow >../out
	[ "$(grep -c '^write(1, ' ../replay)" -lt 20 ]
	[ "$(wc -l <../out)" -gt 200 ]
	# Output on the other descriptor keeps its place.
	sed -i '100s/"a"/"x"/' "$SCRATCH"/state/*/machines/flow/journal.jsonl
	run -5 agent6 machine replay flow
	[[ ${lines[-1]} == "agent6: replay of flow: "* && ${#lines[@]} -gt 50 ]]
}
