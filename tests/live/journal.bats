#!/usr/bin/env bats
# The journal of live runs: what a fact costs, what damage does, recordings.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
	machine_file counter <<'END'
initial: work
budget: {max_transitions: 400}
vars: {code: {n: {type: int, default: 0}}}
schemas: {r: {n: int}}
states:
  work:
    kind: tool
    command: [sh, -c, 'echo "{\"n\":$(({{ n }} + 1))}"']
    timeout_secs: 20
    output_schema: r
    capture: {set: {n: "{{ result.n }}"}}
    on: {ok: enough, nonzero: bad, timeout: bad}
  enough: {kind: branch, when: [{if: "n >= 30", goto: good}, {else: true, goto: work}]}
  good: {kind: terminal, status: ok, reason: "{{ n }}"}
  bad: {kind: terminal, status: failed, reason: bad}
END
}

@test "a fact costs one write and one sync; branches ride along" {
	need strace
	ASAN_OPTIONS=detect_leaks=0 strace -y -e trace=pwrite64,fdatasync -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/counter"
	# The first is for what was read. begin, 30 tool steps, end; 30 branch steps cost nothing, nor does closing.
	[[ $(grep -c 'fdatasync.*journal.jsonl' "$SCRATCH/trace") -eq $((1 + 32)) ]]
	[[ $(grep -c 'pwrite64.*journal.jsonl.*"{' "$SCRATCH/trace") -eq 32 ]]
	[[ $(journal counter | wc -l) -eq 62 ]]
}

@test "a wait whose instant has passed costs one sync and no wait.json" {
	need strace
	machine_file due <<'END'
initial: past
budget: {max_transitions: 9}
states:
  past: {kind: wait, until: "2020-01-01T00:00:00Z", on: {tick: again, signal: bad}}
  again: {kind: wait, until: "2021-01-01T00:00:00Z", on: {tick: good, signal: bad}}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	local option
	for option in '' --exit-on-wait; do
		strace -f -y -e trace=openat,fdatasync,fsync -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine run --quiet \
			--id "due$option" $option "$SCRATCH/due"
		[[ $(grep -c 'fdatasync.*journal.jsonl' "$SCRATCH/trace") -eq $((1 + 4)) ]] # begin, two steps, end
		run ! grep wait.json "$SCRATCH/trace"
		[[ $(journal "due$option" | jq -r .t | tr '\n' ' ') == "begin wait.armed step wait.armed step end " ]]
		agent6 machine verify "due$option"
		agent6 machine replay "due$option"
	done
}

@test "a large bundle is made durable at once, before its copy has its name" {
	need strace
	mkdir "$SCRATCH/counter/prompts"
	local n
	for n in {1..200}; do echo "$n" >"$SCRATCH/counter/prompts/$n.md"; done
	ASAN_OPTIONS=detect_leaks=0 strace -qq -e trace=fsync,syncfs,renameat -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/counter"
	[[ $(grep -c fsync "$SCRATCH/trace") -lt 50 ]]
	[[ $(grep -B 1 '"bundle")' "$SCRATCH/trace") == syncfs* ]]
	run -2 strace -qq -e inject=syncfs:error=EIO -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine run --id other --quiet "$SCRATCH/counter"
	[[ $output == *"cannot sync the bundle's copy: Input/output error"* ]]
	[[ ! -e $(instance other) ]]
}

@test "a start that has read much of a journal writes a snapshot, however soon it is killed" {
	local print='{kind: tool, command: [sh, -c, "head -c 700000 /dev/zero | tr \\\\0 x"], timeout_secs: 20'
	machine_file long <<END
initial: one
budget: {max_transitions: 9}
states:
  one: $print, on: {ok: two, nonzero: bad, timeout: bad}}
  two: $print, on: {ok: hang, nonzero: bad, timeout: bad}}
  hang: {kind: tool, command: [sleep, "1000"], timeout_secs: 2000, on: {ok: bad, nonzero: bad, timeout: bad}}
  bad: {kind: terminal, status: failed, reason: bad}
END
	local start
	for start in 1 2; do
		go long --allow-uncommitted 3>&- &
		local runner=$! dir
		if [[ $start == 1 ]]; then
			eventually journal_has long '"state":"two"'
			dir=$(instance long)
		else
			eventually test -e "$dir/snapshot.json"
		fi
		kill -9 "$(cut -d' ' -f1 "$dir/lock")"
		wait "$runner" || true
		let_go "$dir"
		[[ $start == 2 ]] || rm -f "$dir/snapshot.json"
	done
}

@test "damage is refused with its line, by a start, a replay and a verify" {
	go counter
	local file
	file=$(instance counter)/journal.jsonl
	cp "$file" "$SCRATCH/whole"
	sed -i '20s/"attempt":1/"attempt":2/' "$file"
	for verb in verify replay status; do
		run agent6 machine "$verb" counter
		echo "$verb: $output"
		[[ $status -eq 5 && $output == *"line 20"* ]]
	done
	run go counter
	[[ $status -eq 5 && $output == *"line 20"* ]]
	sed '20d' "$SCRATCH/whole" >"$file"
	run agent6 machine verify counter
	[[ $status -eq 5 && $output == *"line 20"* ]]
	cp "$SCRATCH/whole" "$file"
	agent6 machine verify counter
	head -c -1 "$SCRATCH/whole" >"$file"
	run agent6 machine verify counter
	[[ $status -eq 5 && $output == *"unfinished"* ]]
	go counter
	agent6 machine verify counter
	cmp <(jq -c 'del(.ts, .h)' "$file") <(jq -c 'del(.ts, .h)' "$SCRATCH/whole")
}

@test "an instance that came with links to elsewhere is refused, and what they lead to is let alone" {
	machine_file sleeper <<'END'
initial: work
budget: {max_transitions: 9}
states:
  work: {kind: tool, command: [sh, -c, 'touch "$AGENT6_MACHINE_DATA_DIR/made"'], timeout_secs: 20, on: {ok: w, nonzero: w, timeout: w}}
  w: {kind: wait, on: {signal: work}}
END
	go sleeper --exit-on-wait
	local dir name year
	dir=$(instance sleeper)
	for year in $(seq 1960 2020); do mkdir -p "$SCRATCH/album/$year-summer"; done
	find "$SCRATCH/album" | sort >before
	for name in states pokes data bundle; do
		mv "$dir/$name" "$SCRATCH/kept"
		ln -s "$SCRATCH/album" "$dir/$name"
		run agent6 machine poke sleeper
		echo "$name: poke: $status $output"
		[[ $status -eq 2 && $output == *"/$name is a link"* ]]
		run go sleeper --exit-on-wait
		echo "$name: run: $status $output"
		[[ $status -eq 2 && $output == *"/$name is a link"* ]]
		rm "$dir/$name"
		mv "$SCRATCH/kept" "$dir/$name"
		find "$SCRATCH/album" | sort | cmp before
	done
	agent6 machine poke sleeper
	go sleeper --exit-on-wait
	[[ -e $dir/data/made ]]
}

@test "what a journal was made to say does not drive the terminal" {
	machine_file told <<'END'
initial: done
budget: {max_transitions: 9}
states:
  done: {kind: terminal, status: ok, reason: said, notify: {message: told, level: warn}}
END
	go told --allow-uncommitted
	local file line chain key words odd='\\u001b]0;title\\u0007\\u009b31m\\u202e\\r'
	file=$(instance told)/journal.jsonl
	sed '$i{"t":"stop","ts":"2026-11-21T10:00:05.000000Z","seq":1,"by":"request","state":"done","h":"'"$(printf '%064d' 0)"'"}' "$file" >"$SCRATCH/kept"
	printf '{"id":"%s","state":"%s","commands":[{"argv":["%s"],"level":"%s"}]}' "$odd" "$odd" "$odd" "$odd" |
		sed 's/\\\\/\\/g' >"${file%/*}/question.json"
	for key in machine bundle profile level message instance agent6 reason status cause ts state by; do
		chain=$(printf '%064d' 0)
		sed -E "s/,\"h\":\"[0-9a-f]{64}\"\}\$/}/; s/\"$key\":\"[^\"]*\"/\"$key\":\"$odd\"/" "$SCRATCH/kept" |
			while read -r line; do
				chain=$(printf '%s%s' "$chain" "$line" | sha256sum | cut -c1-64)
				printf '%s,"h":"%s"}\n' "${line%\}}" "$chain"
			done >"$file"
		grep -qF "$key\":\"\\u001b" "$file"
		for line in 'replay told' 'watch told' 'status told' list 'report told -o page.html' 'verify told'; do
			read -ra words <<<"$line"
			run timeout 60 "$AGENT6_BIN/agent6" machine "${words[@]}"
			echo "$key, $line: $status $output"
			run ! env LC_ALL=C grep -qE $'\033|\007|\302\233|\342\200\256|\r' <<<"$output"
		done
	done
}

@test "a pipe in the place of a file of the instance is refused, and nobody waits for it" {
	go counter
	local dir file verb
	dir=$(instance counter)
	for file in journal.jsonl lock; do
		mv "$dir/$file" "$SCRATCH/kept"
		mkfifo "$dir/$file"
		for verb in verify replay status watch poke 'report -o page.html' prune; do
			read -ra verb <<<"$verb"
			run timeout 60 "$AGENT6_BIN/agent6" machine "${verb[0]}" counter "${verb[@]:1}" </dev/null
			echo "$file, ${verb[*]}: $status $output"
			[[ $status -ne 124 ]]
			[[ $file != journal.jsonl || ${verb[0]} == prune || $output == *"journal.jsonl is not a regular file"* ]]
		done
		run timeout 60 "$AGENT6_BIN/agent6" machine list
		[[ $status -eq 0 ]]
		run timeout 60 "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/counter"
		[[ $status -eq 5 || $status -eq 2 ]]
		[[ $output == *"$file is not a regular file"* ]]
		rm "$dir/$file"
		mv "$SCRATCH/kept" "$dir/$file"
	done
}

@test "replay shows the blackboard at any step, and where another bundle would go elsewhere" {
	go counter
	[[ $(agent6 machine replay counter --to 1) == '{"n":1}' ]]
	[[ $(agent6 machine replay counter --to 41) == '{"n":21}' ]]
	run agent6 machine replay counter --to 61
	[[ $status -eq 2 && $output == *"has 60 steps"* ]]
	[[ $(agent6 machine replay counter --json | wc -l) -eq 60 ]]
	cp -r "$SCRATCH/counter" "$SCRATCH/other"
	sed -i 's/^vars: .*/vars: {code: {n: {type: int, default: 0}, unused: {type: int, default: 7}}}/' "$SCRATCH/other/machine.yaml"
	agent6 machine replay counter --quiet --with "$SCRATCH/other"
	# Clauses may be added and said otherwise, and so may the end: it is the path that counts.
	sed -i 's/reason: "{{ n }}"/reason: "{{ n }} in all"/' "$SCRATCH/other/machine.yaml"
	sed -i 's/{if: "n >= 30", goto: good}/{if: "n > 4000", goto: bad}, {if: "not (n < 30)", goto: good}/' "$SCRATCH/other/machine.yaml"
	agent6 machine replay counter --quiet --with "$SCRATCH/other"
	sed -i 's/not (n < 30)/n >= 30/' "$SCRATCH/other/machine.yaml"
	sed -i 's/n >= 30/n >= 12/' "$SCRATCH/other/machine.yaml"
	run agent6 machine replay counter --quiet --with "$SCRATCH/other"
	[[ $status -eq 1 && $output == *"seq 24"* ]]
}

@test "where another bundle would have tried again" {
	tool_machine once '["false"]'
	run go once
	[[ $status -eq 1 ]]
	cp -r "$SCRATCH/once" "$SCRATCH/more"
	sed -i 's/^    on: /    retry: {on: [timeout], max: 1}\n&/' "$SCRATCH/more/machine.yaml"
	agent6 machine replay once --quiet --with "$SCRATCH/more"
	sed -i 's/on: \[timeout\]/on: [nonzero]/' "$SCRATCH/more/machine.yaml"
	run agent6 machine replay once --quiet --with "$SCRATCH/more"
	echo "$output"
	[[ $status -eq 1 && $output == *"seq 1"*"would have tried again"* ]]
}

@test "where another bundle would have ended by its budget, and where it would not" {
	go counter
	cp -r "$SCRATCH/counter" "$SCRATCH/other"
	sed -i 's/max_transitions: 400/max_transitions: 60/' "$SCRATCH/other/machine.yaml"
	agent6 machine replay counter --quiet --with "$SCRATCH/other"
	sed -i 's/max_transitions: 60/max_transitions: 59/' "$SCRATCH/other/machine.yaml"
	run agent6 machine replay counter --quiet --with "$SCRATCH/other"
	echo "$output"
	[[ $status -eq 1 && $output == *"seq 60"*"max_transitions (59) is used up before state enough"* ]]
	run go other
	[[ $status -eq 2 ]]
	run go other --id short
	[[ $status -eq 3 ]]
	agent6 machine replay short --quiet
	run agent6 machine replay short --quiet --with "$SCRATCH/counter"
	echo "$output"
	[[ $status -eq 1 && $output == *"seq 60"*"would have gone on"* ]]
}

@test "a recording rehearses" {
	mkdir "$SCRATCH/tape" "$SCRATCH/config/agent6"
	cp -r "$AGENT6_SRC/examples/hello" "$SCRATCH/hello"
	cp "$SCRATCH"/hello/rehearsal/workspace/* "$SCRATCH/ws/"
	mkfifo "$SCRATCH/hold" "$SCRATCH/ready"
	"$AGENT6_BIN/agent6-cassette" --cassette "$SCRATCH/hello/rehearsal/hello.jsonl" --ready-fd 4 \
		<"$SCRATCH/hold" 4>"$SCRATCH/ready" 3>&- &
	local provider=$! port
	exec 7>"$SCRATCH/hold"
	read -r port <"$SCRATCH/ready"
	cat >"$SCRATCH/config/agent6/config.yaml" <<END
providers: {near: {api_format: anthropic, base_url: "http://127.0.0.1:$port", auth: none, prices: {m: {input: 1.0, output: 2.0, cache_read: 0.1, cache_write: 1.0}}}}
models: {worker: {provider: near, model: m}}
END
	go hello --record "$SCRATCH/tape"
	exec 7>&-
	wait "$provider"
	[[ $(wc -l <"$SCRATCH/tape/hello.jsonl") -eq 2 ]]
	agent6 machine rehearse --cassette "$SCRATCH/tape/hello.jsonl" "$SCRATCH/hello"
}

@test "ended instances are removed, others stay" {
	go counter --id one
	go counter --id two
	parked
	[[ $(agent6 machine prune --dry-run | wc -l) -eq 2 ]]
	[[ -z $(agent6 machine prune --older-than-days 1) ]]
	agent6 machine prune two
	agent6 machine prune
	[[ $(agent6 machine list --json | jq -r '.[].id') == parked ]]
	run agent6 machine prune parked
	[[ $status -eq 2 && $output == *"not ended"* ]]
	run agent6 machine prune nobody
	[[ $status -eq 2 ]]
	agent6 machine prune --unfinished parked
	[[ -z $(ls -A "$SCRATCH"/state/*/machines) ]]
}

@test "whoever watches an instance is told that it was removed" {
	parked
	timeout 100 "$AGENT6_BIN/agent6" machine watch parked >"$SCRATCH/seen" 2>&1 3>&- &
	local watcher=$! status=0
	eventually grep -q "waits to be poked" "$SCRATCH/seen"
	agent6 machine prune --unfinished parked
	wait "$watcher" || status=$?
	cat "$SCRATCH/seen"
	[[ $status -eq 5 ]]
	grep -q "instance parked was removed" "$SCRATCH/seen"
}

@test "instances on a read-only file system are looked at like others" {
	need_root
	go counter
	# shellcheck disable=SC2016
	run unshare -m sh -ec 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
		for verb in status watch replay verify; do "$2" machine $verb counter; done' _ "$SCRATCH/state" "$AGENT6_BIN/agent6"
	echo "$output"
	[[ $status -eq 0 && $(grep -c 'n >= 30 -> good' <<<"$output") -ge 2 ]]
}

@test "what a kill left of the last snapshot is gone with the next start" {
	need strace
	tool_machine quick '["true"]'
	local dir
	strace -qq -o "$SCRATCH/trace" -e trace=renameat "$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/quick"
	run strace -qq -o /dev/null -e trace=renameat \
		-e inject=renameat:signal=KILL:when="$(grep -c renameat "$SCRATCH/trace")" \
		"$AGENT6_BIN/agent6" machine run --quiet --id killed "$SCRATCH/quick"
	dir=$(instance killed)
	let_go "$dir"
	[[ $status -eq 137 && -e $dir/.snapshot.json.tmp ]]
	[[ $(journal killed | tail -n 1) == *'"t":"end"'* ]]
	run -2 go quick --id killed # refused, since it has ended; and tidied up
	[[ -e $dir/snapshot.json && ! -e $dir/.snapshot.json.tmp ]]
}

@test "what a killed removal left is removed with the next" {
	need strace
	local all
	go counter
	all=$(echo "$SCRATCH"/state/*/machines)
	run strace -qq -o /dev/null -e trace=unlinkat -e inject=unlinkat:signal=KILL:when=3 \
		"$AGENT6_BIN/agent6" machine prune counter
	[[ -n $(ls -A "$all") && -z $(ls "$all") ]]
	agent6 machine prune --dry-run
	[[ -n $(ls -A "$all") ]]
	run strace -qq -o /dev/null -e trace=getdents64 -e inject=getdents64:error=EIO:when=1 "$AGENT6_BIN/agent6" machine prune
	echo "$output"
	[[ $status -eq 2 && $output == *"cannot list $all: Input/output error"* ]]
	agent6 machine prune
	[[ -z $(ls -A "$all") ]]
}

@test "an option of prune that would not be heard is refused" {
	local said
	go counter
	for said in "--dry-run counter" "--older-than-days 9 counter" --unfinished; do
		# shellcheck disable=SC2086
		run agent6 machine prune $said
		echo "$output"
		[[ $status -eq 2 && $output == *"IDs"* ]]
	done
	[[ -e $(instance counter)/journal.jsonl ]]
}

@test "a run whose lock or journal was taken away stops before it writes" {
	local file pid
	machine_file parked <<END
initial: park
budget: {max_transitions: 9}
states:
  park: {kind: wait, on: {signal: work}}
  work: {kind: tool, command: [touch, ran], timeout_secs: 20, on: {ok: good, nonzero: good, timeout: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	local id at bytes
	armed() { [[ -e $(instance "$id")/wait.json ]]; }
	local how
	# The same bytes are not the same file.
	for how in "rm lock" "cp journal.jsonl copy; mv copy journal.jsonl" "truncate -s \$(head -n 1 journal.jsonl | wc -c) journal.jsonl"; do
		file=${how##* }
		id=without_${how%% *}
		go parked --id "$id" >"$SCRATCH/said" 2>&1 3>&- &
		pid=$!
		eventually armed
		at=$(instance "$id")
		(cd "$at" && eval "$how")
		journal "$id" >"$SCRATCH/lines"
		bytes=$(stat -c %s "$at/journal.jsonl")
		rm -f "$at/snapshot.json"
		agent6 machine poke "$id"
		status=0
		wait "$pid" || status=$?
		cat "$SCRATCH/said"
		[[ $status -eq 5 && $(stat -c %s "$at/journal.jsonl") -eq $bytes ]] # nor cuts off another's lines
		grep -q "/$file was [rc].* while instance $id was running; this run records nothing more" "$SCRATCH/said"
		journal "$id" | cmp - "$SCRATCH/lines"
		[[ ! -e ran && ! -e $at/snapshot.json ]]
	done
}

@test "a run whose directory was moved or removed ends in its sleep, and touches no other instance" {
	machine_file parked <<'END'
initial: park
budget: {max_transitions: 9}
states:
  park: {kind: wait, on: {signal: work}}
  work: {kind: tool, command: [sh, -c, 'touch "$AGENT6_MACHINE_DATA_DIR/ran"'], timeout_secs: 20, on: {ok: good, nonzero: good, timeout: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	local id at how pid status
	armed() { [[ -e $(instance "$id")/wait.json ]]; }
	for how in mv rm; do
		id=gone_$how
		timeout 60 "$AGENT6_BIN/agent6" machine run --quiet --id "$id" "$SCRATCH/parked" >"$SCRATCH/said" 2>&1 3>&- &
		pid=$!
		eventually armed
		at=$(instance "$id")
		case $how in
		mv) mv "$at" "${at%/*}/moved" ;;
		rm) rm -r "$at" ;;
		esac
		status=0
		wait "$pid" || status=$?
		cat "$SCRATCH/said"
		[[ $status -eq 5 ]]
		grep -q "while instance $id was running; this run records nothing more" "$SCRATCH/said"
	done
	# It goes on under its new name, and another one begins under the old.
	agent6 machine poke moved
	go parked --id moved
	[[ -e $(instance moved)/data/ran ]]
	go parked --id gone_mv --exit-on-wait
}
