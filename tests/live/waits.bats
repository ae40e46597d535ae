#!/usr/bin/env bats
# Waits, pokes, stops and signals of live runs.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
	machine_file parked <<'END'
initial: park
budget: {max_transitions: 5000}
states:
  park: {kind: wait, on: {signal: park2}}
  park2: {kind: wait, every_secs: 3600, on: {tick: bad, signal: show}}
  show:
    kind: tool
    command: [sh, -c, 'cat $AGENT6_MACHINE_DATA_DIR/poke.json']
    timeout_secs: 20
    on: {ok: again, nonzero: bad, timeout: bad}
  again:
    kind: tool
    command: [sh, -c, 'test ! -e $AGENT6_MACHINE_DATA_DIR/poke.json']
    timeout_secs: 20
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	machine_file loop <<'END'
initial: park
budget: {max_transitions: 5000}
states:
  park: {kind: wait, on: {signal: park}}
END
}

teardown() {
	[[ -z ${RUNNER-} ]] || kill -9 "$RUNNER" 2>/dev/null || true
}

launch() { # NAME [OPTION...]
	"$AGENT6_BIN/agent6" machine run "${@:2}" "$SCRATCH/$1" >"$SCRATCH/output" 2>&1 3>&- &
	RUNNER=$!
}

finish() { # waits for what was launched; its exit status is in $code
	code=0
	wait "$RUNNER" || code=$?
	RUNNER=
}

# SIGTERM to what was launched; the next one counts for itself only once this one has been read.
terminate() {
	kill -TERM "$RUNNER"
	eventually nothing_pending
}

nothing_pending() {
	! grep -q '^ShdPnd:.*[^0[:space:]]' "/proc/$RUNNER/status"
}

armed() { # NAME COUNT
	[[ $(journal "$1" | grep -c '"t":"wait.armed"') -ge $2 ]]
}

@test "pokes wake a sleeping machine, and the next tool sees the payload once" {
	launch parked
	eventually armed parked 1
	agent6 machine poke parked
	eventually armed parked 2
	agent6 machine poke parked --data '{"n": [1, "ü"]}'
	finish
	[[ $(journal parked | jq -c 'select(.state == "show") | .fact.stdout | fromjson') == '{"data":{"n":[1,"ü"]}}' ]]
	run agent6 machine poke parked
	[[ $status -eq 2 && $output == *ended* ]]
}

@test "stop parks a sleeping machine, which goes on from there" {
	launch parked
	eventually armed parked 1
	agent6 machine stop parked
	finish
	[[ $code -eq 0 ]]
	journal_has parked '"by":"request"'
	[[ ! -e $(instance parked)/stop ]]
	run agent6 machine stop parked
	[[ $status -eq 2 ]]
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/parked"
	agent6 machine poke parked
	agent6 machine run --json --exit-on-wait "$SCRATCH/parked" >"$SCRATCH/lines"
	[[ $(jq -r .t "$SCRATCH/lines" | tr '\n' ' ') == "step wait.armed " ]]
}

@test "all who ask for a stop at once are heard" {
	local n asked=()
	launch parked
	eventually armed parked 1
	kill -STOP "$RUNNER"
	for n in {1..8}; do
		agent6 machine stop parked 3>&- &
		asked+=($!)
	done
	for n in "${asked[@]}"; do
		wait "$n"
	done
	kill -CONT "$RUNNER"
	finish
	[[ $code -eq 0 && -z $(find "$(instance parked)" -name '*.tmp') ]]
}

@test "wait.json says what is armed, whenever the runner was killed" {
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/parked"
	local file
	file=$(instance parked)/wait.json
	cp "$file" "$SCRATCH/first"
	rm "$file" # killed behind the journal's line
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/parked"
	diff "$SCRATCH/first" "$file"
	agent6 machine poke parked
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/parked"
	[[ $(jq -r '.state + " " + (.wake | type)' "$file") == "park2 string" ]]
	agent6 machine poke parked
	agent6 machine run --quiet "$SCRATCH/parked"
	[[ ! -e $file ]]

	machine_file slow <<'END'
initial: park
budget: {max_transitions: 9}
states:
  park: {kind: wait, on: {signal: work}}
  work: {kind: tool, command: [sleep, "60"], timeout_secs: 90, on: {ok: good, nonzero: good, timeout: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/slow"
	file=$(instance slow)/wait.json
	cp "$file" "$SCRATCH/first"
	agent6 machine poke slow
	launch slow
	eventually journal_has slow '"label":"signal"'
	kill -9 "$RUNNER"
	finish
	let_go "$(instance slow)"
	cp "$SCRATCH/first" "$file" # killed behind the journal's line
	launch slow
	gone() { [[ ! -e $file ]]; }
	eventually gone
	terminate
	terminate
	finish
}

@test "a wait.json that cannot be written is named with its directory, once, and the wait holds" {
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/parked"
	local dir
	dir=$(instance parked)
	rm "$dir/wait.json"
	mkdir -p "$dir/wait.json/in the way"
	agent6 machine poke parked
	run -0 agent6 machine run --exit-on-wait "$SCRATCH/parked"
	echo "$output"
	[[ $(grep -c wait.json <<<"$output") -eq 1 ]]
	[[ $output == *"$dir: cannot put wait.json in its place: Is a directory"* && $output == *"It waits in state park2"* ]]
	rm -r "$dir/wait.json"
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/parked"
	[[ $(jq -r .state "$dir/wait.json") == park2 ]]
}

@test "a retry without a delay waits for no clock that was set back" {
	need python3
	tool_machine retry '["false"]'
	sed -i 's/^    on: /    retry: {on: [nonzero], max: 1, backoff_secs: 0}\n&/' "$SCRATCH/retry/machine.yaml"
	run go retry
	[[ $status -eq 1 ]]
	local dir
	dir=$(instance retry)
	rm "$dir/snapshot.json"
	python3 - "$dir/journal.jsonl" <<'END'
import hashlib, json, re, sys
lines, chain = open(sys.argv[1]).read().split("\n")[:2], "0" * 64
with open(sys.argv[1], "w") as out:
    for line in lines:
        line = re.sub(r'"until":"20..', '"until":"2099', line)
        body = line[: line.rindex(',"h":"')]
        chain = hashlib.sha256((chain + body + "}").encode()).hexdigest()
        out.write(body + ',"h":"' + chain + '"}\n')
END
	journal_has retry '"until":"2099'
	run timeout 100 "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/retry"
	[[ $status -eq 1 ]]
}

@test "a wait that is stopped keeps the time it wakes at, and what was spent is in its line" {
	machine_file hourly <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work: {kind: tool, command: ["true"], timeout_secs: 20, on: {ok: park, nonzero: park, timeout: park}}
  park: {kind: wait, every_secs: 3600, on: {tick: good, signal: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	launch hourly
	eventually armed hourly 1
	agent6 machine stop hourly
	finish
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/hourly"
	journal hourly | jq -s -e 'map(select(.t == "wait.armed")) | length == 2 and
		(map(.wake) | unique | length) == 1 and all(.[]; .totals.transitions == 1)'
}

@test "a stop while a retry waits runs the state no further" {
	tool_machine retry '["false"]'
	sed -i 's/^    on: /    retry: {on: [nonzero], max: 1, backoff_secs: 600}\n&/' "$SCRATCH/retry/machine.yaml"
	launch retry
	eventually journal_has retry '"t":"retry"'
	agent6 machine stop retry
	finish
	[[ $code -eq 0 ]]
	[[ $(journal retry | jq -r .t | tail -n 2 | tr '\n' ' ') == "retry stop " ]]
}

@test "signals park it with their exit codes" {
	launch parked
	eventually armed parked 1
	kill -TERM "$RUNNER"
	finish
	[[ $code -eq 143 ]]
	agent6 machine poke parked
	launch parked
	eventually armed parked 2
	kill -INT "$RUNNER"
	finish
	[[ $code -eq 130 ]]
	[[ $(journal parked | jq -r 'select(.t == "stop") | .by' | tr '\n' ' ') == "SIGTERM SIGINT " ]]
}

@test "a second signal kills the running state, which runs again on resume" {
	machine_file busy <<'END'
initial: look
budget: {max_transitions: 9}
states:
  look: {kind: branch, when: [{else: true, goto: work}]}
  work:
    kind: tool
    command: [sh, -c, 'cd $AGENT6_MACHINE_DATA_DIR; echo $AGENT6_STEP_KEY >>keys; test $(wc -l <keys) -ge 2 || sleep 300']
    timeout_secs: 400
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	launch busy
	running() { [[ -s $(instance busy)/data/keys ]]; }
	eventually running
	terminate
	terminate
	finish
	[[ $code -eq 143 ]]
	[[ -z $(journal busy | grep '"t":"step"') ]]
	# It would be of a position that the journal does not lead to.
	[[ ! -e $(instance busy)/snapshot.json ]]
	go busy
	[[ $(sort "$(instance busy)/data/keys" | uniq -c | tr -s ' ') == " 2 busy-2" ]]
}

@test "eight pokers at once: each poke wakes one wait, in order, none is lost" {
	launch loop --quiet
	eventually armed loop 1
	local poker
	local pids=()
	for poker in 1 2 3 4 5 6 7 8; do
		(
			for ((i = 0; i < ${AGENT6_POKES:-25}; i++)); do
				until agent6 machine poke loop --data "[$poker,$i]" 2>/dev/null; do
					sleep 0.01
				done
			done
		) 3>&- &
		pids+=($!)
	done
	wait "${pids[@]}"
	local total=$((8 * ${AGENT6_POKES:-25}))
	woken() { [[ $(journal loop | grep -c '"woke_by":"poke"') -eq $total ]]; }
	eventually woken
	agent6 machine stop loop
	finish
	[[ $(journal loop | jq -c 'select(.t == "step") | .fact.payload.data' | sort | uniq -d) == "" ]]
	# Each poker's own pokes come in the order in which it sent them.
	[[ $(journal loop | jq -r 'select(.t == "step") | .fact.payload.data | "\(.[0]) \(.[1])"' |
		awk '$2 != seen[$1]++ { print }') == "" ]]
	[[ -z $(find "$(instance loop)/pokes" -name '*.json') ]]
	agent6 machine verify loop
}

@test "a second runner is refused and told who holds the instance" {
	launch parked
	eventually armed parked 1
	run agent6 machine run "$SCRATCH/parked"
	[[ $status -eq 2 ]]
	[[ $output == *"$RUNNER"* && $output == *"$(hostname)"* ]]
	[[ $(agent6 machine status parked --json | jq -r '"\(.status) \(.holder.pid)"') == "waiting $RUNNER" ]]
	kill -9 "$RUNNER"
	finish
	[[ $(agent6 machine status parked --json | jq -r '.holder') == null ]]
}

# A host: a name, processes and mounts of its own. What both see is the file system.
on_host() { # NAME CMD...
	unshare --uts --pid --fork --mount --propagation private sh -c 'hostname "$1" && shift && exec "$@"' sh "$@"
}

@test "a second host on the same file system is refused and told which one holds the instance" {
	need_root
	on_host alpha "$AGENT6_BIN/agent6" machine run "$SCRATCH/loop" >"$SCRATCH/output" 2>&1 3>&- &
	local host=$!
	eventually armed loop 1
	run -2 on_host beta "$AGENT6_BIN/agent6" machine run "$SCRATCH/loop"
	[[ $output == *"already running: process "[0-9]*" on alpha holds it"* ]]
	[[ $(on_host beta "$AGENT6_BIN/agent6" machine status loop --json | jq -r '"\(.status) \(.holder.host)"') == "waiting alpha" ]]
	agent6 machine stop loop
	wait "$host"
	run -0 on_host beta "$AGENT6_BIN/agent6" machine run --exit-on-wait "$SCRATCH/loop"
}

# Its processes have numbers of their own, of which the host has none.
in_container() { # CMD...
	unshare --pid --fork --mount-proc sh -c 'echo $(($(cat /proc/sys/kernel/pid_max) - 99)) \
		>/proc/sys/kernel/ns_last_pid && "$@"' sh "$@"
}

@test "a run in a container that has its host's name is seen and stopped from the host" {
	need_root
	in_container "$AGENT6_BIN/agent6" machine run "$SCRATCH/loop" >"$SCRATCH/output" 2>&1 3>&- &
	local container=$!
	eventually armed loop 1
	[[ $(agent6 machine status loop --json | jq -r '"\(.status) \(.holder.host)"') == "waiting $(hostname)" ]]
	agent6 machine stop loop
	wait "$container"
}

@test "a file system without locks is refused with what to do" {
	need strace
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/loop"
	run -2 strace -o /dev/null -P "$(instance loop)/lock" -e trace=fcntl -e inject=fcntl:error=ENOLCK \
		"$AGENT6_BIN/agent6" machine run "$SCRATCH/loop"
	[[ $output == *"cannot lock instance loop: No locks available; its file system has to offer locks"* ]]
}

@test "any number of waits: none takes an inotify instance, of which a user has few" {
	# Its own user namespace has none at all.
	env unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_inotify_instances; exec "$@"' \
		sh "$AGENT6_BIN/agent6" machine run "$SCRATCH/loop" >"$SCRATCH/output" 2>&1 3>&- &
	RUNNER=$!
	eventually armed loop 1
	agent6 machine poke loop
	eventually armed loop 2
	agent6 machine stop loop
	finish
	[[ $code -eq 0 ]]
}

@test "a wait that the kernel tells of no changes looks once a second" {
	need strace
	agent6 machine run --quiet --exit-on-wait "$SCRATCH/loop"
	strace -o "$SCRATCH/trace" -e trace=fcntl -e inject=fcntl:error=EINVAL -P "$(instance loop)" \
		"$AGENT6_BIN/agent6" machine run "$SCRATCH/loop" >"$SCRATCH/output" 2>&1 3>&- &
	RUNNER=$!
	eventually grep -q 'F_NOTIFY.*INJECTED' "$SCRATCH/trace"
	agent6 machine poke loop
	eventually armed loop 2
	agent6 machine stop loop
	finish
	[[ $code -eq 0 ]]
	[[ $(grep -c F_NOTIFY "$SCRATCH/trace") -eq 2 ]] # one for each wait
	run -5 strace -o /dev/null -e trace=timerfd_create -e inject=timerfd_create:error=EMFILE \
		"$AGENT6_BIN/agent6" machine run "$SCRATCH/loop"
	[[ $output == *"cannot prepare a wait: Too many open files"* ]]
}

@test "a long wait makes no system call and keeps little memory" {
	need strace
	launch parked
	eventually armed parked 1
	agent6 machine poke parked
	eventually armed parked 2
	quiet() { # for two seconds: no more than the call that it waits in
		env strace -f -p "$RUNNER" -o "$SCRATCH/trace" 2>"$SCRATCH/attached" 3>&- &
		local tracer=$!
		eventually grep -q attached "$SCRATCH/attached"
		sleep 2
		kill "$tracer"
		wait "$tracer" || true
		[[ $(wc -l <"$SCRATCH/trace") -le 1 ]]
	}
	quiet || quiet || { cat "$SCRATCH/trace" && false; } # the first time it may not have lain down yet
	# The sanitizers' own memory is not the supervisor's.
	[[ ${AGENT6_CONFIG-release} != release ]] || [[ $(awk '/^VmRSS/ { print $2 }' "/proc/$RUNNER/status") -lt 4096 ]]
}

@test "notify runs the operator's program once for each event" {
	mkdir -p "$SCRATCH/config/agent6"
	printf '#!/bin/sh\ncat >>%s/heard\n' "$SCRATCH" >"$SCRATCH/hook"
	chmod +x "$SCRATCH/hook"
	echo "machine: {notify: {on_event: [$SCRATCH/hook]}}" >"$SCRATCH/config/agent6/config.yaml"
	machine_file told <<'END'
initial: park
budget: {max_transitions: 9}
vars: {operator: {who: {type: str, value: "a \"b\""}}}
states:
  park: {kind: wait, notify: {message: "hello {{ who }}", level: warn}, on: {signal: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	local i
	for i in 1 2 3; do go told --exit-on-wait; done
	agent6 machine poke told
	go told --exit-on-wait
	[[ $(jq -r '.t' "$SCRATCH/heard" | tr '\n' ' ') == "notify end " ]]
	[[ $(jq -r 'select(.t == "notify") | "\(.level) \(.message)"' "$SCRATCH/heard") == 'warn hello a "b"' ]]
	# One program hears of all that run here.
	agent6 machine run "$SCRATCH/told" --id monday --exit-on-wait
	[[ $(jq -r '"\(.t) \(.instance) \(.machine)"' "$SCRATCH/heard") == $'notify told told\nend told told\nnotify monday told' ]]
}

@test "no command chooses what notify runs: neither by its file nor by a name in PATH" {
	local program grant=$SCRATCH/grant put
	mkdir -p "$SCRATCH/config/agent6" bin "$SCRATCH/bin" "$grant"
	put="echo \"echo wrong >>$SCRATCH/heard\" | tee own >bin/tell; chmod +x bin/tell"
	put+="; ln -sfn \"\$AGENT6_MACHINE_DATA_DIR\" link; cp bin/tell link; cp bin/tell $grant"
	tool_machine told "[sh, -c, '$put; true']"
	sed -i "s|timeout_secs: 20|&\n    writes: [$grant]|" "$SCRATCH/told/machine.yaml"
	for program in ./own tell 'sh, own'; do
		printf '#!/bin/sh\necho right >>%s/heard\n' "$SCRATCH" | tee "$SCRATCH/bin/tell" >own
		chmod +x own "$SCRATCH/bin/tell"
		printf '%s\n' "machine: {notify: {on_event: [$program]}}" "sandbox: {write: [$grant]}" >"$SCRATCH/config/agent6/config.yaml"
		ln -sfn "$SCRATCH/bin" link
		PATH=$PWD/bin:$PWD/link:$grant:$SCRATCH/bin:$PATH agent6 machine run --id "told${#program}" "$SCRATCH/told"
		cmp bin/tell link/tell
		cmp bin/tell "$grant/tell"
		[[ $(<bin/tell) == *wrong* ]]
		rm bin/tell "$grant/tell"
	done
	[[ $(<"$SCRATCH/heard") == $'right\nright\nright' ]]
}

@test "what notify runs is not what a command makes or a link that it turns" {
	local how link=$SCRATCH/hook program
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/grant/kept"
	printf '#!/bin/sh\necho right >>%s/heard\n' "$SCRATCH" >"$SCRATCH/hook"
	chmod +x "$SCRATCH/hook"
	tool_machine told "[sh, -c, 'ln -sfn evil $SCRATCH/grant/kept/own; echo evil >kept; true']"
	sed -i "s|timeout_secs: 20|&\n    writes: [$SCRATCH/grant]|" "$SCRATCH/told/machine.yaml"
	settings() { # program
		printf '%s\n' "machine: {notify: {on_event: [$1]}}" "sandbox: {write: [$SCRATCH/grant], protect: [$SCRATCH/grant/kept]}" >"$SCRATCH/config/agent6/config.yaml"
	}
	ln -s "$SCRATCH" up
	ln -s hook "$SCRATCH/beside"
	for link in own script "$SCRATCH/grant/own" "$SCRATCH/grant/kept/own"; do ln -s "$SCRATCH/beside" "$link"; done
	ln -s "$PWD/own" "$SCRATCH/through"
	for how in ./own=./own 'sh, script=script' "$SCRATCH/grant/own=$SCRATCH/grant/own" up/hook=up "$SCRATCH/through=$PWD/own"; do
		settings "${how%=*}"
		run -2 agent6 machine run --id refused "$SCRATCH/told"
		[[ $output == *"machine.notify.on_event: ${how#*=} is a link that a command could turn: name what"* ]]
	done
	settings ./gone
	run -2 agent6 machine run --id refused "$SCRATCH/told"
	[[ $output == *"machine.notify.on_event: ./gone is not there, and a command could put it there"* ]]
	[[ ! -e kept && ! -e $SCRATCH/heard ]]
	# Nobody turns a link outside, or in a directory that is protected.
	for program in "$SCRATCH/beside" "$SCRATCH/grant/kept/own"; do
		settings "$program"
		agent6 machine run --id "told${#program}" "$SCRATCH/told"
	done
	[[ $(<"$SCRATCH/heard") == $'right\nright' && $(<kept) == evil ]]
}

@test "what may be written is looked up once for an event, not for each directory of PATH" {
	need strace
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/grant" "$SCRATCH"/bin{1..9}
	tool_machine told "['true']"
	printf '%s\n' "machine: {notify: {on_event: ['true']}}" "sandbox: {write: [$SCRATCH/grant]}" >"$SCRATCH/config/agent6/config.yaml"
	looked_up() { # how often, with these directories in PATH
		local path
		printf -v path '%s:' "$@"
		PATH=$path$PATH strace -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine run --id "told$#" "$SCRATCH/told" >/dev/null 2>&1 || true
		grep -c "readlink.*\"$SCRATCH/grant\"" "$SCRATCH/trace"
	}
	local once
	once=$(looked_up "$SCRATCH/bin1")
	[[ $once -gt 0 && $(looked_up "$SCRATCH"/bin{1..9}) -eq $once ]]
}

@test "a wait that another run began is shown with its own time" {
	parked
	sleep 1.2
	agent6 machine poke parked
	run agent6 machine run "$SCRATCH/parked"
	echo "$output"
	[[ $output =~ park\ +signal\ -\>\ good\ +[1-9]\.?[0-9]*\ s ]]
}

@test "how a notify program failed is said" {
	mkdir -p "$SCRATCH/config/agent6"
	echo "machine: {notify: {on_event: [$SCRATCH/hook]}}" >"$SCRATCH/config/agent6/config.yaml"
	tool_machine told '["true"]'
	local how
	for how in 'kill -SEGV $$: was killed by signal 11 (Segmentation fault)' 'exit 3: failed with exit status 3'; do
		printf '#!/bin/sh\n%s\n' "${how%%: *}" >"$SCRATCH/hook"
		chmod +x "$SCRATCH/hook"
		run agent6 machine run --id "told${#how}" "$SCRATCH/told"
		echo "$output"
		[[ $status -eq 0 && $output == *"machine.notify.on_event: $SCRATCH/hook ${how#*: }"* ]]
	done
}

@test "a notify program that is ended takes its own children along" {
	mkdir -p "$SCRATCH/config/agent6"
	printf '#!/bin/sh\ncd %s\necho told >>events\nsleep 1000 &\necho $! >child\nwait\n' "$SCRATCH" >"$SCRATCH/hook"
	chmod +x "$SCRATCH/hook"
	echo "machine: {notify: {on_event: [$SCRATCH/hook]}}" >"$SCRATCH/config/agent6/config.yaml"
	machine_file told <<'END'
initial: good
budget: {max_transitions: 9}
states:
  good: {kind: terminal, status: ok, reason: good, notify: hello}
END
	launch told
	eventually test -s "$SCRATCH/child"
	local child
	child=$(<"$SCRATCH/child")
	terminate
	terminate
	finish
	gone() { ! kill -0 "$child"; }
	eventually gone
	# A user who has asked twice need not wait for the hook.
	[[ $(wc -l <"$SCRATCH/events") -eq 1 ]]
	[[ $(<"$SCRATCH/output") == *"hook was killed: a second signal came"* ]]
	[[ $(<"$SCRATCH/output") == *"hook is not told of this end: a second signal came"* ]]
	journal_has told '"t":"end"'
}

@test "a signal while the notify program runs stops before the state's work" {
	mkdir -p "$SCRATCH/config/agent6"
	printf '#!/bin/sh\ncd %s\necho told >>events\nuntil test -e go; do sleep 0.05; done\n' "$SCRATCH" >"$SCRATCH/hook"
	chmod +x "$SCRATCH/hook"
	echo "machine: {notify: {on_event: [$SCRATCH/hook]}}" >"$SCRATCH/config/agent6/config.yaml"
	machine_file told <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    notify: hello
    command: ["true"]
    timeout_secs: 20
    on: {ok: good, nonzero: good, timeout: good}
  good: {kind: terminal, status: ok, reason: good}
END
	launch told
	eventually test -s "$SCRATCH/events"
	terminate
	touch "$SCRATCH/go"
	finish
	[[ $code -eq 143 ]]
	[[ $(journal told | jq -r .t | tr '\n' ' ') == "begin notify stop " ]]
	go told
	[[ $(wc -l <"$SCRATCH/events") -eq 2 ]] # the second is of the end
}

@test "the same command continues, parameters and all; another value is refused" {
	machine_file asked <<'END'
initial: park
budget: {max_transitions: 9}
vars: {operator: {who: {type: str, value: nobody}, heat: {type: float, value: 1.5}}}
states:
  park: {kind: wait, on: {signal: good}}
  good: {kind: terminal, status: ok, reason: "{{ who }}"}
END
	local i
	for i in 1 2; do go asked --exit-on-wait --set who=Ada --set heat=3; done
	run go asked --exit-on-wait --set who=Eve
	[[ $status -eq 2 && $output == *"began with another value of who"* ]]
	agent6 machine poke asked
	run agent6 machine run --set who=Ada --set heat=3 "$SCRATCH/asked"
	[[ $status -eq 0 && $output == *"ok: Ada"* ]]
}

@test "a place for instances that cannot be made is named" {
	AGENT6_STATE_HOME=/proc/agent6 run go parked
	[[ $status -eq 2 && $output == *"/proc/agent6"*"cannot create the directory"*"; instances are kept there: AGENT6_STATE_HOME or agent6.state_dir chooses another place" ]]
}

@test "a broken configuration keeps nobody from looking at a run, poking and stopping it" {
	unset AGENT6_STATE_HOME
	mkdir -p "$SCRATCH/config/agent6"
	local config=$SCRATCH/config/agent6/config.yaml broken
	printf 'agent6:\n  state_dir: %s\n' "$SCRATCH/state" >"$config"
	launch loop
	eventually armed loop 1
	local armed=1
	for broken in 'sandbox: {profle: strict}' 'sandbox: [' $'\tagent:' 'providers: {a: {base_url: "ftp://x"}}'; do
		printf '# state_dir: /elsewhere\nagent6:\n  state_dir: %s\n%s\n' "$SCRATCH/state" "$broken" >"$config"
		run -2 --separate-stderr agent6 machine run --exit-on-wait "$SCRATCH/parked"
		run -0 --separate-stderr agent6 machine status loop --json
		[[ $output == *'"status":"waiting"'* ]]
		[[ $stderr == "agent6: the configuration has errors, which \`agent6 check config\` shows; instances are looked for in $SCRATCH/state" ]]
		run -0 --separate-stderr agent6 machine list
		[[ $output == *"loop"*"waiting"* ]]
		run -2 --separate-stderr agent6 machine approve loop --no
		[[ $stderr == *"instance loop asks nothing at the moment" ]]
		run -2 --separate-stderr agent6 machine report loop -o -
		[[ $stderr == *error* && -z $output ]]
		agent6 machine poke loop
		eventually armed loop $((++armed))
	done
	"$AGENT6_BIN/agent6" machine watch loop --json >"$SCRATCH/watched" 3>&- &
	local watcher=$!
	eventually grep -q wait.armed "$SCRATCH/watched"
	agent6 machine stop loop
	finish
	kill $watcher
	[[ $code -eq 0 ]]
}
