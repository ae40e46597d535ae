#!/usr/bin/env bats
# capture_failure: what a state that did not end well says, in variables; run, replay, test, report.
load ../kit/common
load ../live/machine

setup() {
	export AGENT6_STATE_HOME=$SCRATCH/state XDG_CONFIG_HOME=$SCRATCH/config
	mkdir "$SCRATCH/repo" "$SCRATCH/recap"
	cd "$SCRATCH/repo" || return
}

# recap SCRIPT [KEYS]: a tool that runs the shell script, and keeps all of its failure.
recap() {
	cat >"$SCRATCH/recap/machine.yaml" <<-END
		machine: recap
		version: 1
		initial: work
		budget: {max_transitions: 20}
		vars:
		  code:
		    label: {type: str, default: none}
		    why: {type: str, default: none}
		    exit: {type: int, default: 99}
		    signal: {type: str, default: none}
		    out: {type: str, default: none}
		    words: {type: str, default: none}
		states:
		  work:
		    kind: tool
		    command: [sh, -c, '$1']
		    timeout_secs: 60
		    ${2-}
		    capture_failure:
		      set:
		        label: "{{ failure.label }}"
		        why: "{{ failure.reason }}"
		        exit: "{{ failure.exit }}"
		        signal: "{{ failure.signal }}"
		        out: "{{ failure.stdout }}"
		        words: "{{ failure.stderr }}"
		    on: {ok: done, nonzero: done, timeout: done}
		  done: {kind: terminal, status: ok, reason: "{{ label }} {{ exit }} {{ signal }}"}
	END
}

journal_of() {
	echo "$AGENT6_STATE_HOME"/*/machines/recap/journal.jsonl
}

# Prints the blackboard's value at the end.
value() {
	agent6 machine replay --to "$(jq -s 'map(select(.t == "step")) | length' "$(journal_of)")" recap | jq -r ".$1"
}

@test "the failure of the last attempt is bound, and replays from the journal alone" {
	need jq
	recap 'echo "try $AGENT6_STEP_KEY" >>tries; echo out; echo "attempt $(wc -l <tries)" >&2; exit 3' \
		'retry: {on: [nonzero], max: 2, backoff_secs: 0}'
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: nonzero 3 "* ]]
	[[ $(value words) == "attempt 3" && $(value why) == "attempt 3" && $(value out) == out ]]
	# Before the last attempt, nothing was bound.
	[[ $(agent6 machine replay --to 0 recap | jq -r .label) == none ]]
	run -0 jq -sc '[.[0].format, (.[] | select(.t == "retry") | .fact.exit)]' "$(journal_of)"
	[[ $output == "[2,3,3]" ]]
	run -0 agent6 machine verify recap
	rm "$AGENT6_STATE_HOME"/*/machines/recap/snapshot.json
	run -0 agent6 machine replay --with ../recap recap
	agent6 machine report recap --output page.html
	grep -q "attempt 3" page.html
}

@test "an ok outcome binds no failure, and a journal with the key alone has format 2" {
	need jq
	recap 'echo out; exit 0'
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: none 99 none"* ]]
	[[ $(head -1 "$(journal_of)" | jq .format) == 2 ]]
	run -0 agent6 machine replay recap
}

@test "a command that a signal ends has exit -1, the signal's name, and what it had printed" {
	need jq
	recap 'echo out; echo err >&2; kill -TERM $$'
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: nonzero -1 SIGTERM"* ]]
	[[ $(value words) == err && $(value out) == out ]]
}

@test "a command that is too slow is killed with what it had printed" {
	need jq
	recap 'echo out; echo err >&2; sleep 30'
	sed -i 's/timeout_secs: 60/timeout_secs: 1/' ../recap/machine.yaml
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: timeout -1 "* ]]
	[[ $(value words) == err && $(value out) == out ]]
}

@test "a command that a limit kills, and one that printed too much, have the true end of their output" {
	need jq
	recap 'head -c 3000000 /dev/zero | tr "\0" x; printf "last\\377words"; printf "%40000d" 7 >&2; exit 1'
	run -0 agent6 machine run ../recap
	run -0 jq -s '.[1].fact | [.stdout_dropped > 0, .stdout_tail_bytes]' -c "$(journal_of)"
	[[ $output == '[true,32770]' ]]
	[[ $(value 'out | length') == 32766 && $(value 'out[-20:]') == "xxxxxxxxxxlast�words" ]]
	[[ $(value 'out | contains("left out")') == false ]]
	[[ $(value 'words | length') == 32768 && $(value 'words[-3:]') == "  7" ]]
	rm -r "$AGENT6_STATE_HOME"
	recap 'echo before; head -c 3000000 /dev/zero >big; echo after' 'limits: {file_mb: 1}'
	sed -i "s/'echo before.*'/'echo before; exec head -c 3000000 \/dev\/zero >big'/" ../recap/machine.yaml
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: nonzero -1 SIGXFSZ"* ]]
	[[ $(value out) == before && $(value why) == *"limits.file_mb: 1"* ]]
}

@test "small outputs kept by the operator's limit have no part from before the gap" {
	need jq
	agent6 config set sandbox.limits.output_kb 1
	recap 'for i in $(seq 3000); do echo $i; echo e$i >&2; done; exit 1'
	run -0 agent6 machine run ../recap
	[[ $(value 'out | startswith("1\n")') == false && $(value 'out[-10:]') == $'2999\n3000' ]]
	[[ $(value 'words | contains("e1\n")') == false && $(value 'words[-12:]') == $'e2999\ne3000' ]]
}

@test "after the supervisor was killed, the failure is that of the attempt that was committed" {
	need jq
	recap 'echo x >>tries; if [ $(wc -l <tries) -eq 1 ]; then echo first >&2; sleep 60; fi; echo second >&2; exit 4'
	"$AGENT6_BIN/agent6" machine run ../recap --quiet 3>&- &
	local pid=$!
	eventually test -e tries
	kill -9 $pid
	wait $pid || true
	let_go "$AGENT6_STATE_HOME"/*/machines/recap
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: nonzero 4 "* ]]
	[[ $(value words) == second && $(value why) == second ]]
	run -0 agent6 machine verify recap
}

@test "a command without arguments, and output that does not conform, have their reason" {
	need jq
	recap 'echo "{}"' 'output_schema: out'
	sed -i 's/^vars:/schemas: {out: {n: int}}\n&/' ../recap/machine.yaml
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: nonzero 0 "* && $(value why) == "stdout.n: required, but missing" ]]
	rm -r "$AGENT6_STATE_HOME"
	recap unused
	sed -i 's/^  code:/  operator: {words_in: {type: "list[str]", value: []}}\n&/; s/command: .*/command: ["{{ words_in }}"]/' ../recap/machine.yaml
	run -0 agent6 machine run ../recap
	[[ $output == *"ok: nonzero -1 "* && $(value why) == *argument* && $(value out) == "" ]]
}

@test "machine test binds a failure" {
	recap 'exit 3'
	sed -i 's/on: {ok: done, nonzero: done/on: {ok: done, nonzero: look/' ../recap/machine.yaml
	cat >>../recap/machine.yaml <<-'END'
		  look:
		    kind: branch
		    when:
		      - {if: "exit == 3", goto: done}
		      - {if: "signal == 'SIGKILL'", goto: done}
		      - {if: "exit == 99", goto: work}
		      - {else: true, goto: done}
	END
	run -0 agent6 machine test ../recap
	[[ $output == *"7 of 7 edges taken"* || $output == *"0 failures"* ]]
	[[ $output != *"exit == 3"*never* ]]
}

@test "an agent that fails says why" {
	need jq
	cat >../recap/machine.yaml <<-'END'
		machine: recap
		version: 1
		initial: ask
		budget: {max_transitions: 20}
		schemas: {answer: {text: str}}
		vars:
		  agent:
		    answer: {type: answer, default: {}}
		    why: {type: str, default: none}
		states:
		  ask:
		    kind: agent
		    prompt: Answer.
		    output_schema: answer
		    timeout_secs: 20
		    capture: {finish_json: answer}
		    capture_failure: {set: {why: "{{ failure.label }}: {{ failure.reason }}"}}
		    on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}
		  good: {kind: terminal, status: ok, reason: "{{ answer.text }}, {{ why }}"}
		  bad: {kind: terminal, status: ok, reason: "{{ why }}"}
	END
	mkdir ../recap/rehearsal
	echo '{"state":"ask","reply":{"status":400,"text":"no such model"}}' >../recap/rehearsal/recap.jsonl
	run -0 agent6 machine rehearse ../recap
	[[ $output == *"ok: failed: "*"400"* ]]
}

@test "the words of a failure are untrusted, its label and numbers are not" {
	recap 'exit 3'
	sed -i 's/^vars:/returns: out\nschemas: {out: {label: str, why: str, exit: int, out: str}}\n&/
		s/reason: "{{ label }}.*"/reason: x, returns: {label: "{{ label }}", why: "{{ why }}", exit: "{{ exit }}", out: "{{ out }}"}/' ../recap/machine.yaml
	run -0 --separate-stderr agent6 machine check --report ../recap
	[[ $output == *"label: str"$'\n'* && $output == *"exit: int"$'\n'* ]]
	[[ $output == *"why: str, untrusted"* && $output == *"out: str, untrusted"* ]]
}
