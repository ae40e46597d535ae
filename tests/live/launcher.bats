#!/usr/bin/env bats
# The resident launchers of a run: what is left of them, whatever ends first.

load ../kit/common
load machine

setup() {
	need jq git
	live_setup
	mkdir -p "$SCRATCH/config/agent6" "$SCRATCH/bin"
	cp "$AGENT6_BIN"/agent6* "$SCRATCH/bin/"
	AGENT6_BIN=$SCRATCH/bin
	marker=$((BASHPID + 10000000))
	give_user "$SCRATCH"
	cat >"$SCRATCH/go" <<END
#!/bin/sh
cd "$SCRATCH/ws" && AGENT6_STATE_HOME="$SCRATCH/state" XDG_CONFIG_HOME="$SCRATCH/config" \\
	exec "$AGENT6_BIN/agent6" machine run --quiet "\$@"
END
	chmod 755 "$SCRATCH/go"
}

# Processes of the programs of this test alone, as /proc/PID/exe; on what they run, `sleep $marker` tells.
processes() { # [PROGRAM]
	find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$AGENT6_BIN/${1-agent6}*" 2>/dev/null || true
	[[ -n ${1-} ]] || pgrep -fx "sleep $marker" || true
}

nothing_left() {
	local group
	[[ -z $(processes) ]] || return
	for group in $(find /sys/fs/cgroup -name 'agent6-jail-*' -newer "$SCRATCH/go" 2>/dev/null); do
		eventually test ! -e "$group" || return # a test beside this one has some, too
	done
}

launchers() { # PID: the resident ones of that run
	pgrep -P "$1" -c agent6-jail || true
}

ended() { # PID...
	local pid
	for pid; do
		[[ ! -e /proc/$pid/exe ]] || return 1
	done
}

steps() { # NAME: how many are committed
	journal "$1" 2>/dev/null | grep -c '"t":"step"' || true
}

has_steps() { # NAME COUNT
	[[ $(steps "$1") -ge $2 ]]
}

most_descriptors() { # PID: the most of ten looks
	local most=0 now
	for _ in {1..10}; do
		now=$(ls "/proc/$1/fd" | wc -l)
		((now <= most)) || most=$now
		sleep 0.01
	done
	echo "$most"
}

@test "a thousand tool steps leave no process, mount, descriptor or file behind" {
	local pid early late mounts count=1000
	[[ ${AGENT6_CONFIG-release} == release ]] || count=100 # each takes ten times as long
	machine_file many <<END
initial: a
budget: {max_transitions: $count}
states:
  a: {kind: tool, command: [sh, -c, 'sleep 9 & echo a'], timeout_secs: 20, on: {ok: b, nonzero: bad, timeout: bad}}
  b: {kind: tool, command: ["true"], workspace: read, timeout_secs: 20, on: {ok: c, nonzero: bad, timeout: bad}}
  c: {kind: branch, when: [{else: true, goto: a}]}
  bad: {kind: terminal, status: failed, reason: bad}
END
	mounts=$(wc -l </proc/self/mountinfo)
	"$SCRATCH/go" "$SCRATCH/many" 2>"$SCRATCH/said" 3>&- &
	pid=$!
	eventually has_steps many $((count / 20))
	early=$(most_descriptors "$pid")
	[[ $(launchers "$pid") -le 2 ]]
	eventually has_steps many $((count * 4 / 5)) || { cat "$SCRATCH/said"; false; }
	late=$(most_descriptors "$pid")
	local code=0
	wait "$pid" || code=$?
	cat "$SCRATCH/said"
	[[ $code -eq 3 && $(steps many) -eq $count ]]
	((late <= early + 10))
	nothing_left
	[[ $(wc -l </proc/self/mountinfo) -eq $mounts ]]
	[[ $(find "$SCRATCH/state" -type f | wc -l) -lt 300 ]]
}

killed_engine() { # PROFILE
	echo "sandbox: {profile: $1}" >"$SCRATCH/config/agent6/config.yaml"
	tool_machine "$1" "[sh, -c, 'sleep $marker & echo \$HOME >up; sleep $marker']" 300
	as_user "$SCRATCH/go" "$SCRATCH/$1" 3>&- &
	eventually test -s "$SCRATCH/ws/up"
	both() { [[ $(pgrep -cfx "sleep $marker") -eq 2 ]]; }
	eventually both # the shell says that it is up before it runs them
	kill -9 "$(pgrep -fx "$AGENT6_BIN/agent6 machine run --quiet $SCRATCH/$1")"
	eventually nothing_left
	wait $! || true
}

@test "an engine killed during a command leaves nothing: strict" {
	killed_engine strict
}

@test "an engine killed during a command leaves nothing: hardened" {
	need_hardened
	killed_engine hardened
	[[ $(cat "$SCRATCH/ws/up") == /tmp/agent6-jail-* && ! -e $(cat "$SCRATCH/ws/up") ]]
}

@test "an engine killed between two commands leaves nothing" {
	machine_file loop <<'END'
initial: a
budget: {max_transitions: 100000}
states:
  a: {kind: tool, command: ["true"], timeout_secs: 20, on: {ok: b, nonzero: bad, timeout: bad}}
  b: {kind: tool, command: ["true"], timeout_secs: 20, on: {ok: a, nonzero: bad, timeout: bad}}
  bad: {kind: terminal, status: failed, reason: bad}
END
	local round pid
	for round in 1 2 3 4 5; do
		"$SCRATCH/go" "$SCRATCH/loop" 3>&- &
		pid=$!
		eventually has_steps loop $((round * 20))
		kill -9 "$pid"
		wait "$pid" || true
		eventually nothing_left
	done
}

@test "a launcher that died while nobody needed it is replaced" {
	machine_file two <<'END'
initial: a
budget: {max_transitions: 9}
states:
  a: {kind: tool, command: [sh, -c, "true"], timeout_secs: 20, on: {ok: b, nonzero: bad, timeout: bad}}
  b:
    kind: tool
    command: [sh, -c, 'touch "$AGENT6_MACHINE_DATA_DIR/up"; until [ -e go ]; do sleep 0.02; done']
    workspace: read
    timeout_secs: 200
    on: {ok: c, nonzero: bad, timeout: bad}
  c: {kind: tool, command: [sh, -c, 'echo again'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	"$SCRATCH/go" "$SCRATCH/two" 3>&- &
	local run=$!
	eventually eval 'test -e "$SCRATCH"/state/*/machines/two/data/up'
	[[ $(launchers "$run") -eq 2 ]]
	local first waiting=()
	first=$(pgrep -o -P "$run" agent6-jail)   # the first state's
	mapfile -t waiting < <(pgrep -P "$first") # what it has made ahead could still take an order
	kill -9 "$first"
	eventually ended "$first" "${waiting[@]}"
	touch "$SCRATCH/ws/go"
	wait "$run"
	[[ $(journal two | grep -c '"label":"ok"') -eq 3 ]]
	nothing_left
}

# The parts of a run's launcher that are killed at once: the resident one, the one of the order, or all.
lost_launcher() { # WHO PROFILE
	local part run code victims resident
	echo "sandbox: {profile: $2}" >"$SCRATCH/config/agent6/config.yaml"
	for part in resident one all; do
		rm -f up
		tool_machine "$2-$part" "[sh, -c, '(setsid sleep $marker &); echo \$\$ >up; sleep $marker']" 60
		$1 "$SCRATCH/go" "$SCRATCH/$2-$part" 2>"$SCRATCH/said" 3>&- &
		code=0
		eventually test -s up
		run=$(pgrep -fx "$AGENT6_BIN/agent6 machine run --quiet $SCRATCH/$2-$part")
		resident=$(pgrep -P "$run" agent6-jail)
		victims=$(pgrep -P "$resident")
		[[ $part != resident ]] || victims=$resident
		[[ $part != all ]] || victims+=" $resident"
		# shellcheck disable=SC2086 # numbers
		kill -9 $victims
		wait $! || code=$?
		cat "$SCRATCH/said"
		run ! pgrep -f "sleep $marker"
		[[ $code -eq 1 && $(journal "$2-$part" | jq -r 'select(.t == "step") | .label') == nonzero ]]
		[[ $(fact "$2-$part" .lost) == "launcher lost: "*"; nothing that it ran is left" ]]
		$1 "$AGENT6_BIN/agent6" machine report "$2-$part" -o "$SCRATCH/$2-$part.html"
		grep -q "launcher lost: " "$SCRATCH/$2-$part.html"
	done
	nothing_left
}

@test "a launcher lost during a command is the outcome nonzero, and nothing of the command is left (root)" {
	need_root
	lost_launcher env strict
}

@test "the same as an ordinary user, strict and hardened" {
	lost_launcher as_user strict
	need_hardened
	lost_launcher as_user hardened
}

# The launcher alone looks for repositories, and it is killed with all of its processes.
lost_before_it_looked() { # WHO PROFILE
	echo "sandbox: {profile: $2}" >"$SCRATCH/config/agent6/config.yaml"
	two_tools "lost-$2" '[sh, -c, "git init -q sub; touch up; sleep 60"]' 90
	rm -rf up ran sub
	$1 "$SCRATCH/go" "$SCRATCH/lost-$2" >"$SCRATCH/said" 2>&1 3>&- &
	local code=0 run resident children
	eventually test -e up
	run=$(pgrep -f "^$AGENT6_BIN/agent6 machine run .*$SCRATCH/lost-$2\$")
	resident=$(pgrep -P "$run" agent6-jail)
	children=$(pgrep -P "$resident")
	# One that is left for a moment looks, and tells it: all stop first, and the resident, whose end
	# would wake the others, is killed last.
	# shellcheck disable=SC2086 # numbers
	kill -STOP "$resident" $children
	# shellcheck disable=SC2086
	kill -9 $children "$resident"
	wait $! || code=$?
	cat "$SCRATCH/said"
	[[ $code -ne 0 && ! -e ran ]]
	grep -q "state next: .*the launcher was lost before it had looked for repositories" "$SCRATCH/said"
	[[ $(fact "lost-$2" .lost) == "launcher lost: "* && $(fact "lost-$2" .planted) == "no other command begins: the launcher was lost"* ]]
	rm -rf sub
	$1 "$SCRATCH/go" "$SCRATCH/lost-$2"
	[[ -e ran ]]
}

@test "a launcher lost before it has looked for repositories: the next command is refused (root)" {
	need_root
	lost_before_it_looked env strict
}

@test "the next command is refused as an ordinary user, too, strict and hardened" {
	lost_before_it_looked as_user strict
	need_hardened
	lost_before_it_looked as_user hardened
}

@test "a launcher that is stopped during a command is lost after its time" {
	tool_machine stopped "[sh, -c, 'echo \$\$ >up; exec sleep $marker']" 1
	"$SCRATCH/go" "$SCRATCH/stopped" 2>"$SCRATCH/said" 3>&- &
	local run=$! code=0 one
	eventually test -s up
	for one in $(pgrep -P "$(pgrep -P "$run" agent6-jail)"); do
		kill -STOP "$one"
	done
	wait "$run" || code=$?
	cat "$SCRATCH/said"
	run ! pgrep -f "sleep $marker"
	[[ $code -eq 1 && $(fact stopped .lost) == "launcher lost: it did not end its command in time; nothing that it ran is left" ]]
	nothing_left
}

@test "a command that is stopped with its whole session is not committed, and parks as any stop does" {
	tool_machine ends "[sh, -c, 'touch up; until [ -e go ]; do sleep 0.02; done']" 60
	"$SCRATCH/go" "$SCRATCH/ends" 3>&- &
	local run=$! code=0
	eventually test -e up
	terminate_all "$run"
	wait "$run" || code=$?
	[[ $code -eq 143 && $(steps ends) -eq 0 ]]
	nothing_left
	touch go
	"$SCRATCH/go" "$SCRATCH/ends"
}

@test "a stop, a wait and an agent state find no launcher" {
	machine_file parks <<'END'
initial: a
budget: {max_transitions: 9}
states:
  a: {kind: tool, command: ["true"], timeout_secs: 20, on: {ok: park, nonzero: bad, timeout: bad}}
  park: {kind: wait, every_secs: 3600, on: {tick: bad, signal: bad}}
  bad: {kind: terminal, status: failed, reason: bad}
END
	"$SCRATCH/go" "$SCRATCH/parks" 3>&- &
	local run=$! code=0
	eventually eval 'test -e "$SCRATCH"/state/*/machines/parks/wait.json'
	[[ $(launchers "$run") -eq 0 && -z $(processes agent6-jail) ]]
	kill -TERM "$run"
	wait "$run" || code=$?
	[[ $code -eq 143 ]]
}

@test "a jail that cannot be built says at which step, and nothing runs" {
	machine_file gone <<END
initial: work
budget: {max_transitions: 9}
states:
  work: {kind: tool, command: [touch, ran], reads: [$SCRATCH/lib], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	echo "sandbox: {read: [$SCRATCH/lib]}" >"$SCRATCH/config/agent6/config.yaml"
	run "$SCRATCH/go" "$SCRATCH/gone"
	echo "$output"
	[[ $status -eq 2 && $output == *"state work: reads $SCRATCH/lib, which does not exist or is not inside sandbox.read or sandbox.write"* ]]
	sed -i 's/reads:/writes:/' "$SCRATCH/gone/machine.yaml"
	mkdir "$SCRATCH/lib"
	run "$SCRATCH/go" --id writes "$SCRATCH/gone"
	echo "$output"
	[[ $status -eq 2 && $output == *"state work: writes $SCRATCH/lib, which does not exist or is not inside sandbox.write"* ]]
	[[ ! -e ran ]]
}

@test "a jail that cannot be set up is tried again, three times in all, and then it is 125" {
	tool_machine late '[sh, -c, "echo once >>ran"]'
	echo "sandbox: {read: [$SCRATCH/granted]}" >"$SCRATCH/config/agent6/config.yaml"
	mv "$AGENT6_BIN/agent6-jail" "$AGENT6_BIN/agent6-jail-own"
	# The third launcher finds what the first two did not; the very first is the probe's, and for root
	# the second one tries whether ids can be mapped.
	local probes=$((1 + (EUID == 0)))
	mkdir "$SCRATCH/granted"
	cat >"$AGENT6_BIN/agent6-jail" <<END
#!/bin/sh
echo >>"$SCRATCH/starts"
nth=\$(wc -l <"$SCRATCH/starts")
[ "\$nth" -ne $((probes + 1)) ] || rmdir "$SCRATCH/granted"
[ "\$nth" -ne \$(cat "$SCRATCH/when") ] || mkdir "$SCRATCH/granted"
exec "$AGENT6_BIN/agent6-jail-own" "\$@"
END
	chmod 755 "$AGENT6_BIN/agent6-jail"
	echo $((probes + 3)) >"$SCRATCH/when"
	go late
	[[ $(cat ran) == once ]]
	rm "$SCRATCH/starts"
	echo $((probes + 4)) >"$SCRATCH/when"
	mkdir -p "$(dirname "$(instance late)")/never"
	touch "$(dirname "$(instance late)")/never/states" # nothing ran, so there is nothing to keep
	run agent6 machine run --id never "$SCRATCH/late"
	echo "$output"
	[[ $status -eq 125 && $output == *"could not be set up, at grants: "* && $output != *"not kept"* ]]
	[[ $(wc -l <"$SCRATCH/starts") -eq $((probes + 3)) && $(cat ran) == once ]]
}

@test "a grant that no jail can have is refused at once: it would be the next time, too" {
	tool_machine wrong '[touch, ran]'
	echo "sandbox: {read: [/run]}" >"$SCRATCH/config/agent6/config.yaml"
	mv "$AGENT6_BIN/agent6-jail" "$AGENT6_BIN/agent6-jail-own"
	printf '#!/bin/sh\necho >>"%s/starts"\nexec "%s/agent6-jail-own" "$@"\n' "$SCRATCH" "$AGENT6_BIN" \
		>"$AGENT6_BIN/agent6-jail"
	chmod 755 "$AGENT6_BIN/agent6-jail"
	run agent6 machine run "$SCRATCH/wrong"
	echo "$output"
	[[ $status -eq 125 && $output == *"could not be set up, at layout: /run cannot be granted as a whole"* ]]
	[[ $(wc -l <"$SCRATCH/starts") -lt 4 && ! -e ran ]] # the first is the probe's
}

@test "agent6 jail: a command that was lost has run; it is not run again with less" {
	cat >"$AGENT6_BIN/agent6-jail" <<END
#!/bin/sh
echo >>"$SCRATCH/starts"
echo '{"exit":125,"stage":"wait","error":"the child is gone"}' >&4
exit 125
END
	run env AGENT6_STATE_HOME="$SCRATCH/state" XDG_CONFIG_HOME="$SCRATCH/config" "$AGENT6_BIN/agent6" jail -- touch ran
	echo "$output"
	[[ $status -eq 125 && $output != *hardened* && $(wc -l <"$SCRATCH/starts") -eq 1 ]]
}

# Its broker, which is stopped, its launcher and its commands' daemons outlive an agent that is killed. Nobody
# hears any more what its last command made: it goes with all that the state has changed.
killed_agent() { # WHO PROFILE
	machine_file "agent-$2" <<END
initial: work
budget: {max_transitions: 9, max_usd: 5.0}
schemas: {note: {text: str}}
vars: {agent: {note: {type: note, default: {text: ""}}}}
states:
  work:
    kind: agent
    mode: run
    prompt: Work.
    output_schema: note
    capture: {finish_json: note}
    timeout_secs: 200
    on: {ok: good, failed: next, budget_exhausted: worse, timeout: worse}
  next:
    kind: tool
    command: [sh, -c, 'ls -A >&2; test "\$(ls -A | tr "\\\\n" " ")" = ".git file "']
    timeout_secs: 20
    on: {ok: bad, nonzero: worse, timeout: worse}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: "was failed"}
  worse: {kind: terminal, status: failed, reason: worse}
END
	mkdir -p "$SCRATCH/agent-$2/rehearsal"
	cat >"$SCRATCH/agent-$2/rehearsal/a.jsonl" <<END
{"state":"work","match":{"turn":0},"reply":{"tool_calls":[{"name":"run_command","arguments":{"argv":["sh","-c","git init -q sub; git init -q --bare bare; mkdir -p jj/.jj; (setsid sleep $marker &); touch up; sleep $marker"]}}]}}
END
	printf '%s\n' "sandbox: {profile: $2, run_commands: \"yes\"}" >"$SCRATCH/config/agent6/config.yaml"
	local code=0 agent broker dir=$SCRATCH/stage-$2
	mkdir -p "$dir/workspace"
	git -C "$dir/workspace" init -q -b main
	touch "$dir/workspace/file"
	git -C "$dir/workspace" add file
	git -C "$dir/workspace" -c user.name=op -c user.email=op@host commit -q -m first
	give_user "$SCRATCH"
	$1 env XDG_CONFIG_HOME="$SCRATCH/config" "$AGENT6_BIN/agent6" machine rehearse --config "$SCRATCH/config/agent6/config.yaml" \
		--dir "$dir" "$SCRATCH/agent-$2" >"$SCRATCH/said" 2>&1 3>&- &
	both() { [[ $(pgrep -cfx "sleep $marker") -eq 2 ]]; }
	eventually both || { cat "$SCRATCH/said"; return 1; }
	agent=$(processes agent6-agent | sed -n 's|^/proc/\([0-9]*\)/exe$|\1|p')
	broker=$(pgrep -P "$agent" agent6-broker)
	kill -STOP "$broker"
	kill -9 "$agent"
	wait $! || code=$?
	cat "$SCRATCH/said"
	[[ $code -eq 1 ]]
	grep -q "was failed" "$SCRATCH/said"
	[[ $(find "$dir"/state/*/machines -name aside -prune -o -name .git -print | wc -l) -eq 1 ]] # the clone's own
	nothing_left
}

@test "an agent that is killed leaves no command, launcher or broker, stopped though it is (root)" {
	need_root
	killed_agent env strict
}

@test "an agent that is killed leaves nothing as an ordinary user, too, strict and hardened" {
	killed_agent as_user strict
	need_hardened
	killed_agent as_user hardened
}
