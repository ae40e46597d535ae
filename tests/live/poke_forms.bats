#!/usr/bin/env bats
# Waits that take data of a form: what a poke is refused for, when it is sent and when it is taken.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
	machine_file desk <<'END'
initial: greet
budget: {max_transitions: 99}
schemas:
  answer:
    verdict: {type: str, enum: ["yes", "no"], description: whether to publish}
    note: {type: str, optional: true}
vars:
  code:
    verdict: {type: str, default: "no"}
    note: {type: str, default: none}
states:
  greet: {kind: wait, on: {signal: ask}}
  ask:
    kind: wait
    output_schema: answer
    capture: {set: {verdict: "{{ result.verdict }}", note: "{{ result.note }}"}}
    on: {signal: judge}
  judge: {kind: branch, when: [{if: verdict == 'yes', goto: good}, {else: true, goto: ask}]}
  good: {kind: terminal, status: ok, reason: "{{ note }}"}
END
}

teardown() {
	[[ -z ${RUNNER-} ]] || kill -9 "$RUNNER" 2>/dev/null || true
}

step_of() { # STATE FILTER: of its steps
	journal desk | jq -c "select(.t == \"step\" and .state == \"$1\") | $2"
}

lines_of() { # TYPE
	journal desk | jq -c "select(.t == \"$1\")"
}

pokes() {
	ls "$(instance desk)/pokes"
}

# At `ask`, with an empty queue.
at_ask() {
	go desk --exit-on-wait
	agent6 machine poke desk
	go desk --exit-on-wait
	[[ $(agent6 machine status desk --json | jq -r .state) == ask ]]
}

@test "a poke of another form is refused when it is sent, and the message lists the fields" {
	at_ask
	run -2 agent6 machine poke desk
	[[ $output == *'state ask does not take this poke: it hands over no data; it takes:
  verdict: str (one of yes, no): whether to publish
  note: str, optional
such as: agent6 machine poke desk --data '"'"'{"verdict":"yes"}'"'" ]]
	run -2 agent6 machine poke desk --message yes
	[[ $output == *"it hands over no data"* ]]
	run -2 agent6 machine poke desk --data '{"verdict": "maybe", "notes": 1}'
	[[ $output == *'data.verdict: "maybe" is not one of "yes", "no"'*'notes'* ]]
	run -2 agent6 machine poke desk --data '"yes"'
	[[ $output == *'data: expected'* ]]
	[[ -z $(pokes) ]]
	# The command of the message is one that the wait takes.
	agent6 machine poke desk --data '{"verdict":"yes"}'
	run -0 go desk
	[[ $(step_of ask .fact.payload) == '{"data":{"verdict":"yes"}}' ]]
	[[ $(lines_of begin | jq .format) == 2 ]]
	agent6 machine verify desk
	agent6 machine replay --quiet desk
	agent6 machine replay --quiet --with "$SCRATCH/desk" desk
}

@test "the captures bind on the signal; an optional field that is absent leaves its variable" {
	at_ask
	agent6 machine poke desk --data '{"verdict":"no","note":"first"}'
	go desk --exit-on-wait
	[[ $(agent6 machine status desk --json | jq -c .blackboard) == '{"note":"first","verdict":"no"}' ]]
	agent6 machine poke desk --data '{"verdict":"yes"}'
	run -0 agent6 machine run "$SCRATCH/desk"
	[[ $output == *"ok: first"* ]]
}

@test "a poke in a queue is checked when it is taken: set aside, journaled, and the wait goes on" {
	go desk --exit-on-wait
	agent6 machine poke desk
	# The run has to come to `ask` first, and `greet` takes anything.
	agent6 machine poke desk --message second
	agent6 machine poke desk --data '{"verdict": 3}'
	agent6 machine poke desk --data '{"verdict": "no", "note": "n"}'
	run -0 agent6 machine run --exit-on-wait "$SCRATCH/desk"
	[[ $output == *'refused a poke: it hands over no data'*'refused a poke: data.verdict: expected a string (str), got an integer'* ]]
	[[ $(pokes | grep -c '\.bad$') -eq 2 && $(pokes | grep -c 'json$') -eq 0 ]]
	[[ $(cat "$(instance desk)"/pokes/*.bad) == *'"second"'*'3'* ]]
	[[ $(lines_of poke.refused | jq -rs '.[0].poke + ".bad"') == "$(pokes | head -n 1)" ]]
	[[ $(lines_of poke.refused | wc -l) -eq 2 ]]
	[[ $(step_of ask .fact.payload) == '{"data":{"note":"n","verdict":"no"}}' ]]
	agent6 machine verify desk
	agent6 machine replay desk | grep 'refused a poke: it hands over no data'
	agent6 machine report desk -o "$SCRATCH/report.html"
	grep -q 'refused a poke: it hands over no data' "$SCRATCH/report.html"
}

@test "a run whose last line refuses a poke waits" {
	at_ask
	echo '{"message": "sly"}' >"$(instance desk)/pokes/00000000000000000009-0123abcd.json"
	go desk --exit-on-wait
	[[ $(journal desk | tail -n 1 | jq -r .t) == poke.refused ]]
	[[ $(agent6 machine list --json | jq -c '.[] | [.status, .state, .totals.transitions]') == '["waiting","ask",1]' ]]
	[[ $(agent6 machine status desk --json | jq -r .status) == waiting ]]
	go desk --exit-on-wait
	[[ $(lines_of poke.refused | wc -l) -eq 1 ]]
	[[ $(lines_of wait.armed | wc -l) -eq 2 ]]
}

@test "a poke that waits for a later wait is refused if no wait of the machine takes it" {
	sed -i 's/greet: {kind: wait,/greet: {kind: wait, output_schema: answer,/' "$SCRATCH/desk/machine.yaml"
	go desk --exit-on-wait
	agent6 machine poke desk --data '{"verdict":"yes"}'
	run -2 agent6 machine poke desk --message second
	[[ $output == *"state greet does not take this poke"* ]]
	agent6 machine poke desk --data '{"verdict":"yes"}'
	go desk
}

@test "a kill between the journal's line and the file leaves one line, and the poke set aside" {
	at_ask
	echo '{"message": "sly"}' >"$(instance desk)/pokes/00000000000000000009-0123abcd.json"
	go desk --exit-on-wait
	mv "$(instance desk)"/pokes/*.bad "$(instance desk)/pokes/00000000000000000009-0123abcd.json"
	go desk --exit-on-wait
	[[ $(pokes) == 00000000000000000009-0123abcd.json.bad ]]
	[[ $(lines_of poke.refused | wc -l) -eq 1 ]]
	# Nor does it wake the wait from a snapshot.
	rm "$(instance desk)/snapshot.json"
	go desk --exit-on-wait
	[[ $(lines_of poke.refused | wc -l) -eq 1 ]]
}

@test "a kill between the step and the file of a poke that was taken binds it once" {
	at_ask
	agent6 machine poke desk --data '{"verdict":"no","note":"once"}'
	cp "$(instance desk)"/pokes/*.json "$SCRATCH/taken.json"
	local name
	name=$(pokes)
	go desk --exit-on-wait
	cp "$SCRATCH/taken.json" "$(instance desk)/pokes/$name"
	go desk --exit-on-wait
	[[ -z $(pokes) && $(step_of ask .seq | wc -l) -eq 1 ]]
}

@test "whoever waits for it, watches it or asks for its status sees the form" {
	at_ask
	run -0 agent6 machine status desk
	[[ $output == *'  waits       to be poked: agent6 machine poke desk --data '"'"'{"verdict":"yes"}'"'"'
  takes
    verdict: str (one of yes, no): whether to publish
    note: str, optional
'* ]]
	[[ $(agent6 machine status desk --json | jq -c '[.takes.example, .takes.fields[].name]') == '[{"verdict":"yes"},"verdict","note"]' ]]
	run -0 agent6 machine run --exit-on-wait "$SCRATCH/desk"
	[[ $output == *"Wake it up: agent6 machine poke desk --data '{\"verdict\":\"yes\"}', then"* ]]
	"$AGENT6_BIN/agent6" machine watch desk >"$SCRATCH/watched" 3>&- &
	RUNNER=$!
	eventually grep -q 'verdict: str (one of yes, no): whether to publish' "$SCRATCH/watched"
	grep -q 'a poke hands over:' "$SCRATCH/watched"
	agent6 machine poke desk --data '{"verdict":"yes"}'
	go desk
	wait "$RUNNER"
	RUNNER=
	[[ $(agent6 machine status desk --json | jq .takes) == null ]]
}

@test "the form is part of the interface, and --against notes what changed of it" {
	run -0 agent6 machine check --report "$SCRATCH/desk"
	[[ $output == *"
  pokes        ask.verdict: str (one of yes, no): whether to publish
               ask.note: str, optional
"* ]]
	[[ $(agent6 machine inspect --json "$SCRATCH/desk" | jq -c '.interface.pokes[1]') == '{"name":"ask.note","optional":true,"type":"str"}' ]]
	cp -r "$SCRATCH/desk" "$SCRATCH/old"
	sed -i 's/"no"\], description/"no", later], description/; s/    note: {type: str, optional: true}/    why: {type: str, optional: true}/; s/result.note/result.why/' "$SCRATCH/desk/machine.yaml"
	run -0 agent6 machine check --against "$SCRATCH/old" "$SCRATCH/desk"
	[[ $output == *"the field of a poke was ask.verdict: str (one of yes, no): whether to publish, and is ask.verdict: str (one of yes, no, later)"* ]]
	[[ $output == *"a new field of a poke: ask.why"* && $output == *"a field of a poke is gone: ask.note"* ]]
}

@test "machine test makes up pokes of the form, and a rehearsal refuses one of another" {
	run -0 agent6 machine test "$SCRATCH/desk"
	[[ $output == *"ask                      signal -> judge"*"4 of 4 edges taken"* ]]
	mkdir "$SCRATCH/desk/rehearsal"
	printf '%s\n' '{"state": "greet", "poke": {}}' '{"state": "ask", "poke": {"data": {"verdict": "no"}}}' \
		'{"state": "ask", "poke": {"data": {"verdict": "yes", "note": "cued"}}}' >"$SCRATCH/desk/rehearsal/desk.jsonl"
	run -0 agent6 machine rehearse "$SCRATCH/desk"
	[[ $output == *"ok: cued"* ]]
	sed -i '2s/"no"/"never"/' "$SCRATCH/desk/rehearsal/desk.jsonl"
	run -2 agent6 machine rehearse "$SCRATCH/desk"
	[[ $output == *'desk.jsonl:2: state "ask" does not take this poke: data.verdict: "never" is not one of "yes", "no"'* ]]
	sed -i '2s/{"data".*/{"message": "yes"}}/' "$SCRATCH/desk/rehearsal/desk.jsonl"
	run -2 agent6 machine rehearse "$SCRATCH/desk"
	[[ $output == *'desk.jsonl:2: state "ask" does not take this poke: it hands over no data'* ]]
}

@test "a recorded poke of another form would have gone elsewhere with another bundle" {
	at_ask
	agent6 machine poke desk --data '{"verdict":"yes"}'
	go desk
	cp -r "$SCRATCH/desk" "$SCRATCH/other"
	sed -i 's/note: {type: str, optional: true}/note: str/' "$SCRATCH/other/machine.yaml"
	run -1 agent6 machine replay --with "$SCRATCH/other" desk
	[[ $output == *'the poke does not have the form that the wait takes: data.note: '* ]]
}

@test "a timer of such a wait ends it as ever, without a capture" {
	sed -i 's/    on: {signal: judge}/    every_secs: 1\n    on: {signal: judge, tick: good}/; s/initial: greet/initial: ask/; /^  greet/d' "$SCRATCH/desk/machine.yaml"
	run -0 agent6 machine run "$SCRATCH/desk"
	[[ $output == *"tick -> good"*"ok: none"* ]]
}
