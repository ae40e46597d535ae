#!/usr/bin/env bats
# Every kind of journal line is as schema/journal.schema.json says.

load ../kit/common
load machine

setup() {
	need jq python3
	python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed (make deps)"
	live_setup
}

check_lines() { # FILE
	python3 - "$AGENT6_SRC/schema/journal.schema.json" "$1" <<'END'
import json, jsonschema, sys
validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
failed = 0
for number, line in enumerate(open(sys.argv[2]), 1):
    for error in validator.iter_errors(json.loads(line)):
        failed = 1
        print(number, jsonschema.exceptions.best_match([error]).message, line)
sys.exit(failed)
END
}

@test "lines of every kind conform" {
	machine_file kinds <<'END'
initial: work
budget: {max_transitions: 20}
vars: {operator: {argv: {type: "list[str]", value: []}}}
states:
  work:
    kind: tool
    command: [sh, -c, 'head -c 2000000 /dev/zero; exit 3']
    notify: {message: begins, level: warn}
    timeout_secs: 20
    retry: {on: [nonzero], max: 1, backoff_secs: 0, jitter: true}
    on: {ok: bad, nonzero: nothing, timeout: bad}
  nothing:
    kind: tool
    command: ["{{ argv }}"]
    timeout_secs: 20
    on: {ok: bad, nonzero: pause, timeout: bad}
  pause: {kind: wait, every_secs: 3600, on: {tick: bad, signal: choose}}
  choose: {kind: branch, when: [{if: "len(argv) > 0", goto: bad}, {else: true, goto: park}]}
  park: {kind: wait, on: {signal: good}}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	go kinds --exit-on-wait
	agent6 machine poke kinds --data '{"a": [1]}'
	go kinds --exit-on-wait
	"$AGENT6_BIN/agent6" machine run --quiet "$SCRATCH/kinds" 2>/dev/null 3>&- &
	local runner=$!
	holder() { agent6 machine status kinds --json | jq -e '.holder.pid'; }
	eventually holder
	eventually agent6 machine stop kinds
	wait "$runner"
	agent6 machine poke kinds --message go
	go kinds
	[[ $(journal kinds | jq -r .t | sort -u | tr '\n' ' ') == "begin end notify retry step stop wait.armed " ]]
	check_lines "$(instance kinds)/journal.jsonl"
	python3 - "$AGENT6_SRC"/schema "$(instance kinds)/snapshot.json" <<'END'
import json, jsonschema, sys
journal, snapshot = (json.load(open(f"{sys.argv[1]}/{name}.schema.json")) for name in ("journal", "snapshot"))
resolver = jsonschema.RefResolver.from_schema(snapshot, store={journal["$id"]: journal})
jsonschema.Draft202012Validator(snapshot, resolver=resolver).validate(json.load(open(sys.argv[2])))
END
}

@test "lines of a rehearsal conform" {
	cp -r "$AGENT6_SRC/examples/hello" "$SCRATCH/hello"
	agent6 machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/hello"
	grep -q '"t":"egress"' "$SCRATCH"/dir/state/*/machines/hello/journal.jsonl
	check_lines "$SCRATCH"/dir/state/*/machines/hello/journal.jsonl
}

@test "a line that says too much does not" {
	tool_machine one "['true']"
	go one
	jq -c 'if .t == "step" then .extra = 1 else . end' "$(instance one)/journal.jsonl" >"$SCRATCH/changed"
	run check_lines "$SCRATCH/changed"
	[[ $status -eq 1 ]]
}
