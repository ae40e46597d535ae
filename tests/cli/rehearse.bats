# machine rehearse: the examples, both wire formats, mismatches, resuming.
load ../kit/common

setup() {
	cd "$SCRATCH" || return
}

@test "hello ends ok and reports what happened" {
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello"
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"ok -> greeted"* ]]
	[[ $output == *"outcome       ok: Welcome, Ada"* ]]
	[[ $output == *"path          greet -> greeted"* ]]
	[[ $output == *"1,343 in, 79 out tokens"* ]]
	[[ $output == *"confinement   profile strict"* ]]
	[[ $output == *"agents: no capabilities, not dumpable"* ]]
	[ -z "$(ls)" ]
}

@test "hello ends ok over the other wire format" {
	run --separate-stderr agent6 machine rehearse --wire openai --quiet "$AGENT6_SRC/examples/hello"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "triage empties its inbox" {
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"ok: 3 conversations sorted"* ]]
	[ -z "$(ls kept/workspace/inbox)" ]
	[ "$(cat kept/workspace/sorted/log.txt)" = "triage-4 urgent inbox/001-brakes-again.txt inbox/001-brakes.txt
triage-9 routine inbox/002-winter-tyres.txt
triage-14 junk inbox/003-offer.txt" ]
	cd kept/workspace
	export AGENT6_STATE_HOME=$SCRATCH/kept/state
	run --separate-stderr agent6 machine verify triage
	[ "$status" -eq 0 ]
	run --separate-stderr agent6 machine replay triage
	[ "$status" -eq 0 ]
	[[ $output == *"17  decide"*"empty"* ]]
}

@test "fewer descriptors than connections can be are enough" {
	run --separate-stderr prlimit --nofile=60:60 "$AGENT6_BIN/agent6" machine rehearse "$AGENT6_SRC/examples/hello"
	echo "$output" "$stderr"
	[[ $status -eq 0 && $output == *"outcome       ok"* ]]
}

@test "an ordinary user rehearses too" {
	give_user "$SCRATCH"
	run --separate-stderr as_user "$AGENT6_BIN/agent6" machine rehearse "$AGENT6_SRC/examples/hello"
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"outcome       ok"* ]]
}

@test "what hardened leaves out is said in words" {
	need_hardened
	give_user "$SCRATCH"
	agent6 machine new flow --from tool
	echo 'sandbox: {profile: hardened}' >hardened.yaml
	run --separate-stderr -0 as_user "$AGENT6_BIN/agent6" machine rehearse flow --config hardened.yaml
	echo "$output" "$stderr"
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ $output == *"profile hardened"*"no namespaces"*"no protected paths"*"no limit on user namespaces"* ]]
	[[ $output != *null* && $output != *": false"* ]]
}

@test "root is told of the option that lets its commands be root, not of a policy's word alone" {
	need_root
	need_hardened
	agent6 machine new flow --from tool
	echo 'sandbox: {profile: hardened}' >hardened.yaml
	mkdir work && cd work
	run --separate-stderr agent6 machine run ../flow --config ../hardened.yaml --allow-uncommitted
	echo "$output" "$stderr"
	[[ $status -eq 125 && $stderr == *"run as an ordinary user"*"--allow-root-jail"* ]]
}

# An agent that is asked again, once, after so many seconds.
asks_again() { # SECONDS
	mkdir -p flow/rehearsal
	cat >flow/machine.yaml <<-END
		machine: flow
		version: 1
		initial: ask
		budget: {max_transitions: 9}
		schemas: {r: {n: int}}
		states:
		  ask:
		    {kind: agent, prompt: p, output_schema: r, timeout_secs: 900, max_iterations: 1,
		    retry: {on: [failed], max: 1, backoff_secs: $1},
		    on: {ok: done, failed: lost, budget_exhausted: lost, timeout: lost}}
		  done: {kind: terminal, status: ok, reason: second}
		  lost: {kind: terminal, status: failed, reason: both}
	END
}

@test "an attempt that the machine repeats goes on in the cassette, and its time begins behind the pause" {
	asks_again 2
	cat >flow/rehearsal/flow.jsonl <<-'END'
		{"state":"ask","reply":{"text":"I cannot"}}
		{"state":"ask","reply":{"tool_calls":[{"name":"finish_run","arguments":{"n":1}}]}}
	END
	run --separate-stderr agent6 machine rehearse flow
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"outcome       ok: second"* ]]
	[[ $output =~ $'\n    1  ask             ok -> done '\ +([0-9]+\ ms|1\.[0-9]\ s)\  ]]
}

@test "status says what a run that does not move is waiting for, while somebody runs it" {
	asks_again 900
	mkdir flow/rehearsal/workspace
	: >flow/rehearsal/workspace/file
	stands() {
		(cd "$1/workspace" && AGENT6_STATE_HOME=$SCRATCH/$1/state agent6 machine status flow "${@:3}" | grep -q -- "$2")
	}
	echo '{"state":"ask","reply":{"status":429,"error":"slow down","retry_after_secs":100}}' \
		>flow/rehearsal/flow.jsonl
	"$AGENT6_BIN/agent6" machine rehearse flow --dir called >/dev/null 2>&1 3>&- &
	eventually stands called '^  notice      retry 1 of 4 in 100.0 s: the provider answered 429.*slow down'
	stands called '"retry_at":null' --json
	kill -KILL $!
	wait $! || true
	eventually stands called '"notice":null' --json
	echo '{"state":"ask","reply":{"text":"I cannot"}}' >flow/rehearsal/flow.jsonl
	"$AGENT6_BIN/agent6" machine rehearse flow --dir paused >/dev/null 2>&1 3>&- &
	eventually stands paused '^  retries     20.* UTC, in 1[0-9] min'
	stands paused '"notice":null.*"retry_at":"20' --json
	kill -KILL $!
	wait $! || true
	eventually stands paused '"retry_at":null' --json
}

@test "a request that does not match fails the rehearsal with a difference" {
	sed 's/the workshop in Turin","turn":1/the harbour in Genoa","turn":1/' \
		"$AGENT6_SRC/examples/hello/rehearsal/hello.jsonl" >other.jsonl
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette other.jsonl
	echo "$output" "$stderr"
	[ "$status" -eq 1 ]
	[[ $stderr == *"state greet, step 1, turn 1: the request does not match other.jsonl:2"* ]]
	[[ $stderr == *'last: expected text holding "Ada, from the harbour in Genoa", got '*"Turin"* ]]
}

@test "a cassette that runs out fails the rehearsal" {
	head -n 1 "$AGENT6_SRC/examples/hello/rehearsal/hello.jsonl" >short.jsonl
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette short.jsonl --quiet
	[ "$status" -eq 1 ]
	[[ $stderr == *"no further exchange for this state"* ]]
}

@test "where a cassette runs out, what the model is asked for is shown" {
	echo '{"state":"greet","reply":{"text":"Good to see you."}}' >talks.jsonl
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette talks.jsonl --quiet
	[[ $status -eq 1 && $stderr == *"no further exchange"*"asks:"*"end by calling finish_run." ]]
	echo '{"state":"greet","reply":{"tool_calls":[{"name":"finish_run","arguments":{"nam":"Ada"}}]}}' >wrong.jsonl
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette wrong.jsonl --quiet
	[[ $status -eq 1 && $stderr == *"no further exchange"*"asks:"*nam* ]]
}

@test "a reply for a state that no agent is would never be asked for, and is refused" {
	local state
	for state in gret greeted; do
		echo '{"state":"'$state'","reply":{"text":"x"}}' >other.jsonl
		run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette other.jsonl
		[[ $status -eq 2 && -z $output ]]
		[[ $stderr == *"other.jsonl:1: \"reply\" needs an agent state, and the machine has none called \"$state\""* ]]
	done
}

@test "an agent without a cassette is refused before anything runs" {
	cp -r "$AGENT6_SRC/examples/hello" .
	rm hello/rehearsal/*.jsonl
	run --separate-stderr agent6 machine rehearse hello
	[ "$status" -eq 2 ]
	[[ -z $output && $stderr == *"state greet"*"rehearsal/"*"--cassette"* ]]
}

@test "where a state asks for what is not granted, the place for the grant is named" {
	local asks
	for asks in 'allow_network: ["a.example:443"]' 'reads: [/etc]' 'secrets: [token]'; do
		cat >asking.asm.yaml <<-END
			machine: asking
			version: 1
			initial: look
			budget: {max_transitions: 5}
			states:
			  look: {kind: tool, command: [echo], $asks, timeout_secs: 9, on: {ok: done, nonzero: done, timeout: done}}
			  done: {kind: terminal, status: ok, reason: done}
		END
		run --separate-stderr agent6 machine rehearse asking.asm.yaml
		echo "$asks: $status $stderr"
		[[ $status -eq 2 && $stderr == *"name it with --config"* ]]
	done
}

@test "a broken cassette is refused with its line" {
	printf '%s\n' '{"state":"greet","reply":{"text":"x"}}' '{"state":"greet","repply":{}}' >broken.jsonl
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette broken.jsonl
	[ "$status" -eq 2 ]
	[[ $stderr == *' broken.jsonl:2: unknown key "repply"'* ]]
}

@test "what crossed the machine's budget ends it with exit 3, wherever it would have gone" {
	agent6 machine new flow
	sed -i 's/max_usd: 0.50/max_usd: 0.001/; s/status: failed/status: ok/' flow/machine.yaml
	cat >read.jsonl <<-'END'
		{"state":"judge","match":{},"reply":{"tool_calls":[{"name":"list_dir","arguments":{"path":"."}}],"usage":{"input_tokens":5000,"output_tokens":1000}}}
	END
	cat >done.jsonl <<-'END'
		{"state":"judge","match":{},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"topic":"work","why":"w"}}],"usage":{"input_tokens":5000,"output_tokens":1000}}}
	END
	run -3 agent6 machine rehearse flow --cassette read.jsonl
	[[ $output == *"budget_exhausted -> gave_up"*"failed: budget.max_usd of the machine (0.001) is used up (0.01) before state gave_up"* ]]
	run -3 agent6 machine rehearse flow --cassette done.jsonl
	[[ $output == *"ok -> done"*"failed: budget.max_usd of the machine"* ]]
	sed -i 's/max_usd: 0.001/max_usd: 0.01/' flow/machine.yaml
	run -0 agent6 machine rehearse flow --cassette done.jsonl --quiet
}

@test "usage that says nothing was used is estimated, shown so, and fails under a hard limit" {
	local said usage
	mkdir free
	cat >free/machine.yaml <<-'END'
		version: 1
		machine: free
		initial: only
		budget: {max_transitions: 9}
		schemas: {said: {text: str}}
		vars: {agent: {said: {type: said, default: {text: ""}}}}
		states:
		  only: {kind: agent, prompt: p, output_schema: said, capture: {finish_json: said}, timeout_secs: 60, on: {ok: done, failed: bad, budget_exhausted: bad, timeout: bad}}
		  done: {kind: terminal, status: ok, reason: done}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
	for usage in '"input_tokens":0,"output_tokens":0' '"input_tokens":0,"output_tokens":9'; do
		echo '{"state":"only","match":{},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"x"}}],"usage":{'"$usage"'}}}' >free.jsonl
		rm -rf "$BATS_TEST_TMPDIR/dir"
		run -0 agent6 machine rehearse --dir "$BATS_TEST_TMPDIR/dir" free --cassette free.jsonl
		[[ $output == *" tokens (estimated), \$0."*"done"*" out tokens (estimated), \$0."*" by estimate"* ]]
		said=$(jq -c 'select(.t == "step" and .state == "only") | .fact | [.input_tokens > 500, .usd > 0, .unmetered]' "$BATS_TEST_TMPDIR"/dir/state/*/machines/free/journal.jsonl)
		[[ $said == '[true,true,true]' ]]
	done
	sed 's/max_transitions: 9/max_transitions: 9, max_usd: 1.0/' free/machine.yaml >free/hard.asm.yaml
	run -1 agent6 machine rehearse free/hard.asm.yaml --cassette free.jsonl
	[[ $output == *"did not report both input and output tokens"* ]]
}

@test "exactly at the budget is not over it, for every kind of next state" {
	mkdir exact
	cat >exact/machine.yaml <<-'END'
		version: 1
		machine: exact
		initial: first
		budget: {max_transitions: 9, max_usd: 0.01}
		schemas: {said: {text: str}}
		vars: {agent: {said: {type: said, default: {text: ""}}}}
		states:
		  first: {kind: agent, prompt: p, output_schema: said, capture: {finish_json: said}, timeout_secs: 60, on: {ok: look, failed: bad, budget_exhausted: bad, timeout: bad}}
		  look: {kind: tool, command: ["true"], timeout_secs: 9, on: {ok: fork, nonzero: bad, timeout: bad}}
		  fork: {kind: branch, when: [{if: 'said.text == "x"', goto: second}, {else: true, goto: bad}]}
		  second: {kind: agent, prompt: p, output_schema: said, capture: {finish_json: said}, timeout_secs: 60, on: {ok: bad, failed: bad, budget_exhausted: spent, timeout: bad}}
		  spent: {kind: terminal, status: ok, reason: spent}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
	echo '{"state":"first","match":{},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"x"}}],"usage":{"input_tokens":5000,"output_tokens":1000}}}' >exact.jsonl
	run -0 agent6 machine rehearse exact --cassette exact.jsonl
	[[ $output == *"look "*"ok -> fork"*"budget_exhausted -> spent"*"nothing is left of its budget"* ]]
}

@test "a prompt that renders to nothing fails its state before a provider is asked" {
	mkdir nothing
	cat >nothing/machine.yaml <<-'END'
		version: 1
		machine: nothing
		initial: ask
		budget: {max_transitions: 9}
		schemas: {said: {text: str}}
		vars: {operator: {task: {type: str, value: "\n \t"}}}
		states:
		  ask: {kind: agent, prompt: '{{ task }}', output_schema: said, timeout_secs: 60, on: {ok: asked, failed: none, budget_exhausted: bad, timeout: bad}}
		  none: {kind: terminal, status: ok, reason: none}
		  asked: {kind: terminal, status: ok, reason: asked}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
	: >nothing.jsonl
	run -0 --separate-stderr agent6 machine rehearse nothing --cassette nothing.jsonl --json
	echo "$output"
	jq -se '.[1] | .label == "failed" and .goto == "none" and .fact.turns == 0 and .fact.provider != null and
		(.fact.reason | startswith("the prompt is empty: "))' <<<"$output"
	echo '{"state":"ask","match":{"prompt":"Go"},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"x"}}]}}' >nothing.jsonl
	sed -i 's/value: ".*"/value: Go/' nothing/machine.yaml
	run -0 agent6 machine rehearse nothing --cassette nothing.jsonl
	[[ $output == *"ask -> asked"* ]]
}

@test "--json prints exactly the journal" {
	agent6 machine rehearse "$AGENT6_SRC/examples/hello" --json --dir kept >lines
	cmp lines kept/state/*/machines/hello/journal.jsonl
}

@test "what a cassette holds and nobody asked for is said, and fails nothing" {
	cat "$AGENT6_SRC"/examples/hello/rehearsal/*.jsonl >long.jsonl
	tail -n 1 long.jsonl >last && cat last last >>long.jsonl
	run --separate-stderr -0 agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette long.jsonl
	[[ $output == *"left over     2 exchanges of the cassette were not asked for"* ]]
	run --separate-stderr -0 agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette long.jsonl --json
	[[ $stderr == *"2 exchanges of the cassette were not asked for"* && $output != *cassette* ]]
	for quiet in --quiet "--quiet --json"; do
		run --separate-stderr -0 agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette long.jsonl $quiet
		[[ -z $stderr && $output != *cassette* ]]
	done
}

@test "parameters reach the machine" {
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/triage" --set pause_secs=2 \
		--exit-on-wait --json
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *'"parameters":{"pause_secs":2}'* ]]
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/triage" --set pause_secs=soon
	[ "$status" -eq 2 ]
	[[ $stderr == *"pause_secs"* ]]
}

@test "killed and started again, no exchange and no step is repeated" {
	agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept --exit-on-wait --quiet
	agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept --quiet
	[ "$(wc -l <kept/positions-triage)" -eq 6 ]
	[ "$(wc -l <kept/workspace/sorted/log.txt)" -eq 3 ]
	[ "$(grep -c '"t":"begin"' kept/state/*/machines/triage/journal.jsonl)" -eq 1 ]
}

@test "what did not match before a kill fails the rehearsal when it goes on, once" {
	mkdir -p bundle/rehearsal work
	cat >bundle/machine.yaml <<-'END'
		machine: asker
		version: 1
		initial: ask
		budget: {max_transitions: 9}
		schemas: {note: {text: str}}
		states:
		  ask: {kind: agent, prompt: Well?, output_schema: note, timeout_secs: 60, on: {ok: bad, failed: park, budget_exhausted: bad, timeout: bad}}
		  park: {kind: wait, on: {signal: good}}
		  good: {kind: terminal, status: ok, reason: good}
		  bad: {kind: terminal, status: failed, reason: bad}
	END
	echo '{"state":"ask","match":{"prompt":"another question"},"reply":{"text":"no"}}' >bundle/rehearsal/a.jsonl
	{
		cat bundle/rehearsal/a.jsonl
		echo '{"state":"park","poke":{}}'
	} >poked.jsonl
	cd work
	"$AGENT6_BIN/agent6" machine rehearse ../bundle --dir ../kept --quiet 3>&- &
	local runner=$!
	eventually sh -c 'test -e ../kept/state/*/machines/asker/wait.json'
	kill -9 "$runner"
	wait "$runner" || true
	run --separate-stderr agent6 machine rehearse ../bundle --dir ../kept --quiet --exit-on-wait
	echo "$output" "$stderr"
	[[ $status -eq 1 && $stderr == *"rehearsal: state ask, step 1, turn 0: the request does not match a.jsonl:1"* ]]
	run -0 --separate-stderr agent6 machine rehearse ../bundle --dir ../kept --quiet --cassette ../poked.jsonl
	[[ $stderr != *"does not match"* ]]
}

@test "a second rehearsal in a directory in use is refused, and changes nothing there" {
	mkdir -p bundle/rehearsal work
	cat >bundle/machine.yaml <<-'END'
		machine: parked
		version: 1
		initial: park
		budget: {max_transitions: 9}
		states:
		  park: {kind: wait, on: {signal: good}}
		  good: {kind: terminal, status: ok, reason: good}
	END
	echo '{"state":"park","poke":{}}' >other.jsonl
	cd work
	"$AGENT6_BIN/agent6" machine rehearse ../bundle --dir ../kept --quiet 3>&- &
	local runner=$!
	eventually sh -c 'test -e ../kept/state/*/machines/parked/wait.json'
	run --separate-stderr agent6 machine rehearse ../bundle --dir ../kept --quiet --cassette ../other.jsonl
	kill -9 "$runner"
	wait "$runner" || true
	echo "$status $stderr"
	[[ $status -eq 2 && $stderr == *"kept is in use by another rehearsal; "*"--dir"* ]]
	[[ ! -e ../kept/cassettes/other.jsonl ]]
	run -0 --separate-stderr agent6 machine rehearse ../bundle --dir ../kept --quiet --cassette ../other.jsonl
}

@test "a second rehearsal at once in a kept directory is told that it is in use" {
	mkdir work bundle
	cd work
	cat >../bundle/machine.yaml <<-'END'
		machine: slow
		version: 1
		initial: work
		budget: {max_transitions: 9}
		states:
		  work:
		    kind: tool
		    workspace: write
		    command: [sh, -c, 'echo >begun; exec sleep 60']
		    timeout_secs: 90
		    on: {ok: good, nonzero: good, timeout: good}
		  good: {kind: terminal, status: ok, reason: good}
	END
	"$AGENT6_BIN/agent6" machine rehearse ../bundle --dir ../kept --quiet 3>&- &
	local first=$!
	eventually test -e ../kept/workspace/begun
	run --separate-stderr -2 agent6 machine rehearse ../bundle --dir ../kept --quiet
	[[ $stderr == *"kept is in use by another rehearsal; "* ]]
	kill -KILL "$first"
	wait "$first" || true
}

@test "what is refused before it begins leaves no instance in a kept directory" {
	run -2 agent6 machine rehearse "$AGENT6_SRC/examples/hello" --dir kept --set no=such
	run -2 agent6 machine rehearse "$AGENT6_SRC/examples/hello" --dir kept --cassette missing.jsonl
	[[ -e kept/workspace && -z $(find kept -path '*/machines/*') ]]
}

@test "another machine in the same directory begins its own cassette" {
	agent6 machine rehearse "$AGENT6_SRC/examples/hello" --dir kept --quiet
	cp -r "$AGENT6_SRC/examples/hello" other
	sed -i 's/^machine: .*/machine: other/' other/machine.yaml
	rm other/rehearsal/*.jsonl
	echo '{"state":"greet","match":{},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"name":"Ada","text":"Hi."}}]}}' >other/rehearsal/a.jsonl
	run -0 agent6 machine rehearse other --dir kept
	[[ $output == *"ok: Hi."* ]]
	run -0 agent6 machine rehearse "$AGENT6_SRC/examples/hello" --dir kept # which has ended
}

@test "how far it came is known behind a line that a kill or a full disk cut short" {
	agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept --exit-on-wait --quiet
	printf '9 1 cla' >>kept/positions-triage
	agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept --quiet
	cat kept/positions-triage
	[ "$(grep -cxE '[0-9]+ 1 [a-z]+ [0-9]+' kept/positions-triage)" -eq 6 ]
}

@test "a transcript that cannot be written whole says so at once, and in the report" {
	need strace jq
	agent6 machine rehearse "$AGENT6_SRC/examples/hello" --dir kept --quiet
	local step
	step=$(echo "$PWD"/kept/state/*/machines/hello/states/1-greet)
	rm -rf "$(dirname "$step")/../../hello"
	run -0 strace -o /dev/null -P "$step/transcript.jsonl" -P "$step/events.jsonl" -e trace=write \
		-e inject=write:error=ENOSPC:when=2+ "$AGENT6_BIN/agent6" machine rehearse "$AGENT6_SRC/examples/hello" --dir kept
	echo "$output"
	[[ $output == *"state greet: transcript.jsonl is not whole: cannot write it: No space left on device"* ]]
	[[ $(grep -c "transcript.jsonl is not whole" <<<"$output") -eq 1 ]]
	[[ $(jq -rR 'fromjson? | select(.t == "step") | .fact.logs_cut' "$step/../../journal.jsonl") == "transcript.jsonl: cannot write it: No space left on device"* ]]
	agent6 machine report "$(realpath "$step/../..")" -o page.html
	grep -q 'not kept whole' page.html
}

@test "a rehearsal continued in its directory is reported as a whole" {
	agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept --exit-on-wait --quiet
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/triage" --dir kept
	echo "$output"
	[ "$status" -eq 0 ]
	grep -qE '^confinement +profile (strict|hardened)$' <<<"$output"
	grep -qE '^  scan +tool +4x' <<<"$output"
}

@test "code-fixer leaves its commit on a branch of the rehearsal's repository" {
	need git
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/code-fixer" --dir kept
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"path          test -> fix -> confirm -> fixed"* ]]
	[ "$(git -C kept/workspace log --format=%s main..agent6/machine-code-fixer)" = "code-fixer: fix" ]
	[ -z "$(git -C kept/workspace status --porcelain)" ]
	run sh -c 'cd kept/workspace && sh test.sh'
	[ "$status" -eq 1 ]
	git -C kept/workspace checkout -q agent6/machine-code-fixer
	(cd kept/workspace && sh test.sh)
}

@test "a repository's settings are listed once for the git calls that follow one another" {
	need git strace
	need_root # another user's tracer cannot read what a jail's processes are called with
	strace -f -qq -e trace=execve -o "$SCRATCH/trace" \
		"$AGENT6_BIN/agent6" machine rehearse "$AGENT6_SRC/examples/code-fixer" --quiet
	# To make the repository, to begin in it, for the clone at its start and behind each of three
	# states, and for the commit that goes back. The list of changed files that programs run costs none.
	local calls
	calls=$(grep 'execve(.*/git", .* = 0$' "$SCRATCH/trace")
	[[ $(wc -l <<<"$calls") -gt 20 && $(grep -c -- '"--name-only", "-z"\]' <<<"$calls") -le 7 ]]
}

@test "code-fixer, over the other wire format, as an ordinary user" {
	need git
	give_user "$SCRATCH"
	run --separate-stderr as_user "$AGENT6_BIN/agent6" machine rehearse --wire openai "$AGENT6_SRC/examples/code-fixer"
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"outcome       ok: The gear ratio"* ]]
}

@test "every example with a recording ends ok, in both wire formats, and leaves nothing" {
	for example in "$AGENT6_SRC"/examples/*/; do
		[ -d "$example/rehearsal" ] || continue
		for format in anthropic openai; do
			echo "$example $format"
			agent6 machine rehearse "$example" --wire "$format" --quiet
		done
	done
	[ -z "$(ls)" ]
}

@test "council: two providers disagree, a third state decides" {
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/council" --dir kept
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"path          first -> second -> compare -> chair -> decided"* ]]
	[[ $output == *"ok: the chair sides with second"* ]]
	jq -r 'select(.t == "step" and .fact.provider) | .fact.provider' kept/state/*/machines/council/journal.jsonl >providers
	[ "$(tr '\n' ' ' <providers)" = "north south north " ]
}

@test "council: where the two agree, nobody else is asked" {
	sed '/"state":"chair"/d; s/"accept":false/"accept":true/' \
		"$AGENT6_SRC/examples/council/rehearsal/council.jsonl" >agree.jsonl
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/council" --cassette agree.jsonl
	[ "$status" -eq 0 ]
	[[ $output == *"path          first -> second -> compare -> agreed"* ]]
}

@test "digest: what the model says is written by a tool" {
	run --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/digest" --case summary --dir kept
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[ "$(head -n 3 kept/workspace/digest.md)" = "# Schools move to Tuesdays; a driver is missing

- From July the schools' bicycles come on Tuesdays, and we collect them." ]
	[ "$(ls kept/workspace)" = "digest.md
notes" ]
}

@test "the report says below a state's row why it last failed" {
	mkdir -p m/rehearsal
	cat >m/machine.yaml <<'END'
machine: m
version: 1
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: [/bin/sh, -c, "[ -e once ] && exit; >once; printf 'made\nnot \\033[31m%090d' 0 >&2; exit 3"]
    timeout_secs: 20
    retry: {on: [nonzero], max: 1, backoff_secs: 0}
    on: {ok: good, nonzero: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	run --separate-stderr agent6 machine rehearse m
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"nonzero 1, ok 1
$(printf '%18s' '')step 1  exit 3  not \\x1b[31m"+(0)"...
confinement"* ]]
	[ "$(sed '1,/^states/d' <<<"$output" | wc -L)" -le 80 ]
}

# A machine that asks a person, and writes down what it heard.
make_desk() {
	mkdir desk desk/rehearsal
	cat >desk/machine.yaml <<-'END'
		machine: desk
		version: 1
		initial: wait
		budget: {max_transitions: 20}
		schemas: {poke: {message: {type: str, optional: true}, data: {type: json, optional: true}}}
		vars: {code: {poke: {type: poke, default: {}}}}
		states:
		  wait: {kind: wait, on: {signal: hear}}
		  hear:
		    kind: tool
		    command: [sh, -c, 'cat "$AGENT6_MACHINE_DATA_DIR/poke.json"']
		    timeout_secs: 5
		    output_schema: poke
		    capture: {set: {poke: "{{ result }}"}}
		    on: {ok: more, nonzero: lost, timeout: lost}
		  more:
		    kind: branch
		    when:
		      - {if: 'has(poke.message) and poke.message == "stop"', goto: done}
		      - {else: true, goto: wait}
		  done: {kind: terminal, status: ok, reason: told to}
		  lost: {kind: terminal, status: failed, reason: lost}
	END
}

@test "a cassette pokes a wait, each line once and in order, also of a rehearsal that is continued" {
	need jq
	make_desk
	cat >desk/rehearsal/desk.jsonl <<-'END'
		{"state":"wait","poke":{"data":{"n":1}}}
		{"state":"wait","poke":{}}
		{"state":"wait","poke":{"message":"stop"}}
	END
	run --separate-stderr timeout 60 "$AGENT6_BIN/agent6" machine rehearse desk
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"ok: told to  (9 steps)"* ]]
	mkdir work
	head -1 desk/rehearsal/desk.jsonl >one.jsonl
	cp desk/rehearsal/desk.jsonl all.jsonl
	cd work
	run -0 --separate-stderr agent6 machine rehearse ../desk --cassette ../one.jsonl --dir ../kept --exit-on-wait
	[[ $output == *"waiting  (3 steps)"* ]]
	run -0 --separate-stderr timeout 60 "$AGENT6_BIN/agent6" machine rehearse ../desk --cassette ../all.jsonl --dir ../kept
	[[ $output == *"ok: told to  (9 steps)"* ]]
	cd ..
	[ "$(jq -c 'select(.fact.woke_by == "poke") | .fact.payload' kept/state/*/machines/desk/journal.jsonl | tr '\n' ' ')" = \
		'{"data":{"n":1}} {"message":""} {"message":"stop"} ' ]
}

@test "what somebody poked a wait with is recorded without secrets, and rehearses without anybody" {
	need jq
	make_desk
	mkdir work && cd work
	export DEPLOY_PASSWORD="orange elephant 77"
	agent6 connect --name other --format openai --base-url "http://127.0.0.1:1" --model x <<<'an-other-key-0001'
	go_on() { # POKE...
		run -0 --separate-stderr agent6 machine run ../desk --allow-uncommitted --record ../tapes --exit-on-wait
		[[ $stderr != *"not recorded"* ]]
		[ $# -eq 0 ] || agent6 machine poke desk "$@"
	}
	go_on --data '{"with": ["an-other-key-0001", 7]}'
	go_on --message "it is \"orange elephant 77\""
	go_on --message stop
	go_on
	[[ $output == *"ok: told to"* ]]
	cd ..
	cat tapes/desk.jsonl
	[ "$(jq -c .poke tapes/desk.jsonl | tr '\n' ' ')" = \
		'{"data":{"with":["[REDACTED:key]",7]}} {"message":"it is \"[REDACTED:key]\""} {"message":"stop"} ' ]
	run -0 --separate-stderr timeout 60 "$AGENT6_BIN/agent6" machine rehearse desk --cassette tapes/desk.jsonl
	[[ $output == *"ok: told to  (9 steps)"* ]]
}

@test "a wait that nobody would wake ends a rehearsal that is thrown away, and says what is missing" {
	make_desk
	printf '%s\n' '{"state":"wait","poke":{}}' >desk/rehearsal/desk.jsonl
	run -1 --separate-stderr timeout 60 "$AGENT6_BIN/agent6" machine rehearse desk
	[[ $stderr == *'state wait waits to be poked, and no cassette does it: add a line {"state": "wait", "poke":'* ]]
	run -0 --separate-stderr timeout 60 "$AGENT6_BIN/agent6" machine rehearse desk --exit-on-wait
	[[ $stderr != *"no cassette"* ]]
	[[ $output == *"is thrown away; --dir DIR keeps a rehearsal"* && $output != *"same command"* && $output != *"poked."* ]]
	mkdir work && cd work
	run -0 --separate-stderr timeout 60 "$AGENT6_BIN/agent6" machine rehearse ../desk --exit-on-wait --dir ../kept
	[[ $output == *"waits in state wait to be poked"* && $output != *"thrown away"* ]]
}

@test "a rehearsal reads what it has journaled once, however many waits it pokes" {
	need strace
	cd "$SCRATCH"
	mkdir desk
	cat >desk/machine.yaml <<-'END'
		machine: desk
		version: 1
		initial: one
		budget: {max_transitions: 30}
		states:
		  one: {kind: wait, on: {signal: two}}
		  two: {kind: wait, on: {signal: one}}
	END
	mkdir desk/rehearsal
	for ((i = 0; i < 15; i++)); do printf '{"state":"%s","poke":{}}\n' one two; done >desk/rehearsal/desk.jsonl
	strace -y -e trace=pread64 -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine rehearse desk --quiet || [ $? -eq 3 ]
	# From its start by the first wait and for the report: what looks for the last line takes 4 KiB.
	[ "$(grep -c 'journal.jsonl>, "{\\"t\\":\\"begin.* 65536, 0) = ' "$SCRATCH/trace")" -eq 2 ]
}

@test "a line that pokes what is no wait, or is no poke, is refused with its place" {
	local line
	make_desk
	for line in '{"state":"hear","poke":{}}|needs a wait' '{"state":"wiat","poke":{}}|needs a wait' \
		'{"state":"wait","poke":{"message":1}}|must be text' '{"state":"wait","poke":{"message":"x","data":1}}|takes' \
		'{"state":"wait","poke":"x"}|must be an object' '{"state":"wait","poke":{"text":"x"}}|unknown key' \
		'{"state":"wait","poke":{},"reply":{}}|unknown key'; do
		printf '%s\n' "${line%|*}" >desk/rehearsal/desk.jsonl
		run --separate-stderr timeout 60 "$AGENT6_BIN/agent6" machine rehearse desk
		echo "$line: $status $stderr"
		[ "$status" -eq 2 ]
		[[ $stderr == *"desk.jsonl:1: "*"${line#*|}"* ]]
	done
}

@test "--config grants what a machine needs, and nothing else of the file gets out" {
	mkdir flow
	cat >flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: look
		budget: {max_transitions: 9}
		states:
		  look:
		    {kind: tool, command: [test, -e, /srv/granted], reads: [/srv/granted], timeout_secs: 9,
		    on: {ok: done, nonzero: lost, timeout: lost}}
		  done: {kind: terminal, status: ok, reason: seen}
		  lost: {kind: terminal, status: failed, reason: not seen}
	END
	mkdir granted
	sed -i "s,/srv/granted,$SCRATCH/granted,g" flow/machine.yaml
	cat >ci.yaml <<-END
		providers: {real: {api_format: openai, base_url: "https://real.example.org", api_key_env: NOWHERE}}
		models: {worker: {provider: real, model: big}, reviewer: {provider: real, model: big}}
		agent: {summarise: model}
		agent6: {state_dir: $SCRATCH/elsewhere}
		audit: {path: $SCRATCH/audit.jsonl}
		machine: {notify: {on_event: [touch, $SCRATCH/told]}}
		sandbox: {read: [$SCRATCH/granted]}
	END
	mkdir work
	cd work
	run -2 --separate-stderr agent6 machine rehearse ../flow
	[[ $stderr == *"sandbox.read"*"name it with --config"* ]]
	run -0 --separate-stderr agent6 machine rehearse ../flow --config ../ci.yaml
	[[ $output == *"ok: seen"* ]]
	run -0 --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --config ../ci.yaml
	[ "$(ls ..)" = $'ci.yaml\nflow\ngranted\nwork' ]
	printf 'sandbox: {tool_network: allow}\n' >../ci.yaml
	run -2 --separate-stderr agent6 machine rehearse ../flow --config ../ci.yaml
	[[ $stderr == *"ci.yaml:1:25: error[config-network]"* ]]
	run -2 --separate-stderr agent6 machine rehearse ../flow --config nowhere.yaml
	[[ $stderr == *"nowhere.yaml: error[config-file]"* ]]
}
