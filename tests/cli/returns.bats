#!/usr/bin/env bats
# The result of a machine: in the journal, run --output, status, the report, the interface.
load ../kit/common

setup() {
	export AGENT6_STATE_HOME=$SCRATCH/state
	mkdir -p "$SCRATCH/repo/out" "$SCRATCH/count"
	cd "$SCRATCH/repo" || return
	cat >"$SCRATCH/count/machine.yaml" <<-'END'
		machine: count
		version: 1
		initial: count
		budget: {max_transitions: 5}
		returns: counted
		schemas:
		  counted:
		    text: {type: str, description: the text}
		    chars: {type: int, min: 0, max: 9}
		    half: {type: float, optional: true}
		    note: {type: str, optional: true}
		  seen: {chars: int, note: {type: str, optional: true}}
		vars:
		  operator:
		    text: {type: str}
		    half: {type: float, value: 2}
		  code:
		    seen: {type: seen, default: {}}
		states:
		  count:
		    kind: tool
		    command: [printf, '{"chars": %d}', "{{ text | len }}"]
		    timeout_secs: 10
		    output_schema: seen
		    capture: {set: {seen: "{{ result }}"}}
		    on: {ok: which, nonzero: broken, timeout: broken}
		  which:
		    kind: branch
		    when:
		      - {if: text == 'no', goto: no}
		      - {if: text == 'bare', goto: broken}
		      - {if: text == 'note', goto: noted}
		      - {else: true, goto: done}
		  done:
		    kind: terminal
		    status: ok
		    reason: counted
		    returns: {text: "<b>{{ text }}", chars: "{{ seen.chars }}", half: "{{ half }}"}
		  no:
		    kind: terminal
		    status: failed
		    reason: no
		    exit_code: 20
		    returns: {text: "", chars: "{{ seen.chars }}"}
		  noted: {kind: terminal, status: ok, reason: noted, exit_code: 21, returns: {text: "", chars: "{{ seen.chars }}", note: "{{ seen.note }}"}}
		  broken: {kind: terminal, status: failed, reason: the count failed}
	END
}

count() { # TEXT [OPTION...]
	agent6 machine run "$SCRATCH/count" --id "$1" --set "text=$1" "${@:2}"
}

last() {
	tail -n 1 "$(find "$SCRATCH/state" -path "*/$1/journal.jsonl")"
}

@test "a result stands in the journal, --output, status, replay and the report" {
	need jq
	run -0 --separate-stderr count hello --output out/result.json
	[[ $output == *'returns {"chars":5,"half":2,"text":"<b>hello"}'* ]]
	[[ $(<out/result.json) == '{"chars":5,"half":2,"text":"<b>hello"}' ]]
	[[ $(last hello | jq -c .returns) == "$(<out/result.json)" ]]
	grep -q '"format":2' "$(find "$SCRATCH/state" -path '*/hello/journal.jsonl')"
	[[ $(agent6 machine status hello --json | jq -c .returns) == "$(<out/result.json)" ]]
	run -0 agent6 machine status hello
	[[ $output == *'  returns     {"chars":5,"half":2,"text":"<b>hello"}'* ]]
	run -0 agent6 machine replay hello
	[[ $output == *'returns {"chars":5'* ]]
	agent6 machine verify hello
	agent6 machine replay --quiet --with "$SCRATCH/count" hello
	agent6 machine report hello -o "$SCRATCH/report.html"
	grep -q '&lt;b&gt;hello' "$SCRATCH/report.html"
	! grep -q '<b>hello' "$SCRATCH/report.html"
	run -0 agent6 machine test "$SCRATCH/count"
}

@test "a failed end may have a result, and one without leaves --output as it is" {
	echo old >kept.json
	run -1 count bare --output kept.json
	[[ $(<kept.json) == old ]]
	[[ $output != *returns* ]]
	run -20 count no --output kept.json
	[[ $(<kept.json) == '{"chars":2,"text":""}' ]]
	run -2 count no --output again.json # it has ended; the result is still there
	[[ $(<again.json) == '{"chars":2,"text":""}' ]]
}

@test "a result that does not conform, or cannot be rendered, fails the machine before its end is written" {
	need jq
	run -1 count abcdefghij
	[[ $output == *"failed: state done: returns.chars: "*"9"* ]]
	[[ $(last abcdefghij | jq -c '[.status, .cause, has("returns")]') == '["failed","halt",false]' ]]
	run -1 count note --output out/note.json
	[[ $output == *'failed: state noted: returns.note: "seen.note" was read, but its field "note" is not set'* ]]
	[[ ! -e out/note.json ]]
	agent6 machine replay --quiet note
}

@test "--output is refused where there is no result or no directory, before anything runs" {
	run -2 count x --output missing/result.json
	[[ $output == *"--output: cannot open missing/: "* ]]
	run -2 count x --output out/
	[[ $output == *"--output: out/ names no file"* ]]
	sed -i '/^returns/d; s/, returns: .*}/}/; /^    returns/d' "$SCRATCH/count/machine.yaml"
	run -2 count x --output result.json
	[[ $output == *'--output: machine "count" has no result; it declares no `returns`'* ]]
	[[ -z $(find "$SCRATCH/state" -name journal.jsonl) ]]
}

@test "a journal whose end returns something else is damaged" {
	local journal
	count hello
	journal=$(find "$SCRATCH/state" -name journal.jsonl)
	sed -i '$s/"chars":5/"chars":6/' "$journal"
	run -5 agent6 machine replay hello
}

@test "a rehearsal shows the result, and fails where it does not conform" {
	need jq
	run -0 --separate-stderr agent6 machine rehearse "$SCRATCH/count" --set text=hello
	[[ $output == *$'\n       returns {"chars":5,"half":2,"text":"<b>hello"}\nok: counted'* ]]
	run -0 --separate-stderr agent6 machine rehearse --json "$SCRATCH/count" --set text=hello
	[[ $(tail -n 1 <<<"$output" | jq -c .returns) == '{"chars":5,"half":2,"text":"<b>hello"}' ]]
	run -1 --separate-stderr agent6 machine rehearse "$SCRATCH/count" --set text=abcdefghij
	[[ $output == *$'\nfailed: state done: returns.chars: 10 is more than 9, the maximum'* ]]
	[[ $output != *"returns {"* ]]
}

@test "machine test computes the result of every end" {
	run -0 agent6 machine test "$SCRATCH/count"
	echo '{"text": "note"}' >"$SCRATCH/note.json"
	run -1 agent6 machine test --blackboard "$SCRATCH/note.json" "$SCRATCH/count"
	[[ $output == *'FAILED noted: '*'"seen.note" was read, but its field "note" is not set'* ]]
	sed -i 's/min: 0/min: 1/' "$SCRATCH/count/machine.yaml"
	run -1 agent6 machine test "$SCRATCH/count"
	[[ $output == *'FAILED done: returns.chars: 0 is less than 1, the minimum'*"path: count -> which -> done"* ]]
}

@test "the fields of the result are part of the interface, and --against notes what changed of them" {
	need jq
	run -0 --separate-stderr agent6 machine check --report "$SCRATCH/count"
	[[ $output == *"
  returns      text: str: the text
               chars: int (0 to 9)
               half: float, optional
               note: str, optional
"* ]]
	run -0 --separate-stderr agent6 machine inspect --json "$SCRATCH/count"
	[[ $(jq -c '.interface.returns[1]' <<<"$output") == '{"allows":"0 to 9","max":9,"min":0,"name":"chars","optional":false,"type":"int","untrusted":false}' ]]
	cp -r "$SCRATCH/count" "$SCRATCH/old"
	sed -i 's/max: 9}/max: 8}/; /^    half: /d; s/, half: "{{ half }}"//; s/^    note: {type: str/    more: {type: json/; s/, note: "{{ seen.note }}"//' "$SCRATCH/count/machine.yaml"
	run -0 --separate-stderr agent6 machine check --against "$SCRATCH/old" "$SCRATCH/count"
	[[ $stderr == *"the field of the result was chars: int (0 to 9), and is chars: int (0 to 8)"* ]]
	[[ $stderr == *"a field of the result is gone: half: float, optional"* ]]
	[[ $stderr == *"a new field of the result: more: json, optional"* ]]
}

@test "run BUNDLE --help shows the interface of that machine after the verb's own help" {
	sed -i 's/^version: 1/&\ndescription: counts letters/; s/text: {type: str}$/text: {type: str, description: to count, max_len: 9}/' "$SCRATCH/count/machine.yaml"
	plain=$(agent6 machine run --help)
	run -0 --separate-stderr agent6 machine run "$SCRATCH/count" --help
	[[ -z $stderr ]]
	[[ $output == "$plain"'

This machine
  machine     count
  description counts letters
  parameters  text: str, required (at most 9 characters): to count
              half: float = 2
  returns     text: str: the text
              chars: int (0 to 9)
              half: float, optional
              note: str, optional
  ends        done: ok, exit 0; no: failed, exit 20; noted: ok, exit 21; broken:
              failed, exit 1' ]]
	[[ $(agent6 machine run --set text=x --help "$SCRATCH/count") == "$output" ]]
	[[ $(agent6 help machine run "$SCRATCH/count") == "$output" ]]
	[[ $(agent6 machine run -h "$SCRATCH/count") == "$output" ]]
	[[ ! -e $SCRATCH/state ]]
}

@test "run --help of a bundle that cannot be read or run is the verb's help and one message" {
	plain=$(agent6 machine run --help)
	[[ $plain == *'machine run BUNDLE --help'* ]]
	run -0 --separate-stderr agent6 machine run nowhere --help
	[[ $output == "$plain" ]]
	[[ $stderr == "agent6: "*nowhere* && $stderr != *$'\n'* ]]
	echo 'states: {}' >>"$SCRATCH/count/machine.yaml"
	run -0 --separate-stderr agent6 machine run "$SCRATCH/count" --help
	[[ $output == "$plain" ]]
	[[ $stderr == "agent6: $SCRATCH/count has errors; \`agent6 machine check\` lists them" ]]
	run -0 --separate-stderr agent6 machine run "$SCRATCH/count" --set --help
	[[ $output == "$plain" && -z $stderr ]]
}

@test "a field that an agent's variable gives is shown as untrusted" {
	sed -i 's/^  code:/  agent:\n    said: {type: str, default: ""}\n  code:/; s/text: "<b>{{ text }}"/text: "{{ said }}"/; s/ok: which, nonzero/ok: ask, nonzero/
		s/^  which:/  ask:\n    kind: agent\n    prompt: hello\n    timeout_secs: 9\n    output_schema: said\n    capture: {set: {said: "{{ result.said }}"}}\n    on: {ok: which, failed: broken, budget_exhausted: broken, timeout: broken}\n&/
		s/^  seen:/  said: {said: str}\n&/' "$SCRATCH/count/machine.yaml"
	run -0 --separate-stderr agent6 machine check --report "$SCRATCH/count"
	[[ $output == *"  returns      text: str, untrusted: the text"* ]]
}
