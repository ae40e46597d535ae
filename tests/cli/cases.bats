# machine rehearse: a bundle's cases, what they expect, and the forms of their results.
load ../kit/common

setup() {
	need jq
	cd "$SCRATCH" || return
	judge
}

# A machine with a script, a branch, a result and three ends; its level decides among them.
judge() {
	mkdir -p judge/scripts
	cat >judge/machine.yaml <<'END'
machine: judge
version: 1
initial: weigh
budget: {max_transitions: 20}
returns: outcome
schemas:
  outcome: {severity: str, count: int, share: float}
vars:
  operator:
    level: {type: int, value: 1}
    limit: {type: int, description: the level from which the alarm is raised}
  code:
    found: {type: outcome, default: {severity: none, count: 0, share: 0.0}}
states:
  weigh:
    kind: tool
    command: [scripts/weigh.sh, "{{ level }}"]
    timeout_secs: 30
    output_schema: outcome
    capture: {set: {found: "{{ result }}"}}
    on: {ok: decide, nonzero: broken, timeout: broken}
  decide:
    kind: branch
    when:
      - {if: "found.count >= limit", goto: alarm}
      - {else: true, goto: quiet}
  quiet: {kind: terminal, status: ok, reason: nothing to do, returns: {severity: "{{ found.severity }}", count: "{{ found.count }}", share: "{{ found.share }}"}}
  alarm: {kind: terminal, status: failed, exit_code: 20, reason: "level {{ found.count }}"}
  broken: {kind: terminal, status: failed, reason: no weight}
END
	cat >judge/scripts/weigh.sh <<'END'
#!/bin/sh
[ "$1" -lt 9 ] || exit 3
echo "the level is $1" >report.md
printf '{"severity": "low", "count": %d, "share": 0.5}\n' "$1"
END
	chmod +x judge/scripts/weigh.sh
}

a_case() { # NAME: its case.yaml comes on stdin
	mkdir -p "judge/rehearsal/$1"
	cat >"judge/rehearsal/$1/case.yaml"
}

three_cases() {
	a_case good <<'END'
description: a low level is quiet
params: {limit: 5}
expect:
  end: quiet
  exit_code: 0
  path: [weigh, decide, quiet]
  vars: {found: {severity: low}}
  returns: {count: 1, share: 0.5}
  files: {report.md: {contains: level is 1}, other.md: {absent: true}}
  egress: []
END
	a_case refused <<'END'
params: {limit: 5, level: 7}
expect: {end: alarm, status: failed, exit_code: 20, passes: [weigh, alarm]}
END
	a_case broken <<'END'
params: {limit: 5, level: 9}
expect: {end: broken}
END
}

@test "cases are as they expect, also those that expect a failure" {
	three_cases
	run --separate-stderr agent6 machine rehearse judge
	echo "$output" "$stderr"
	[[ $status -eq 0 && ${lines[0]} == "ok       broken" && ${lines[2]} == "ok       refused" ]]
	[[ ${lines[1]} =~ ^"ok       good "\ *"a low level is quiet"$ && ${lines[3]} == "3 cases, 0 differ" ]]
	run --separate-stderr agent6 machine rehearse --quiet judge
	[[ $status -eq 0 && -z $output ]]
}

@test "a swapped edge and a changed script are each caught by the case that should, with the difference" {
	three_cases
	sed -i 's/goto: alarm/goto: other/; s/goto: quiet/goto: alarm/; s/goto: other/goto: quiet/' judge/machine.yaml
	run --separate-stderr agent6 machine rehearse judge
	echo "$output"
	[[ $status -eq 1 && ${lines[0]} == "ok       broken" && ${lines[1]} == "differs  good "* ]]
	[[ ${lines[2]} == "    end: expected quiet, got alarm: level 1" && $output == *$'\ndiffers  refused\n'* ]]
	[[ $output == *"    exit_code: expected 20, got 0 in quiet"* && $output == *"3 cases, 2 differ" ]]
	[[ $output == *"    passes: alarm was not entered after weigh; the path ends "*"weigh -> decide -> quiet"* ]]
	judge
	sed -i 's/"low"/"high"/' judge/scripts/weigh.sh
	run --separate-stderr agent6 machine rehearse judge
	echo "$output"
	[[ $status -eq 1 && $output == *"differs  good"*"    vars.found.severity: expected \"low\", got \"high\""* ]]
	[[ $output == *"3 cases, 1 differs" ]]
}

@test "a reworded prompt is caught, with the place where the two texts part" {
	cp -r "$AGENT6_SRC/examples/hello" hello
	mkdir hello/rehearsal/greets
	mv hello/rehearsal/hello.jsonl hello/rehearsal/greets/cassette.jsonl
	local long
	long=$(printf 'the same words %.0s' {1..100})
	sed -i "s/    prompt: |/&\n      ${long}and so on/" hello/machine.yaml
	sed -i "s/\"prompt\":\"note.txt\"/\"prompt\":\"${long}and so forth\"/" hello/rehearsal/greets/cassette.jsonl
	echo 'expect: {end: greeted}' >hello/rehearsal/greets/case.yaml
	run --separate-stderr agent6 machine rehearse --format text hello
	echo "$output"
	[[ $status -eq 1 && $output == *"differs  greets"*"does not match cassette.jsonl:1"* ]]
	[[ $output == *'prompt: expected text holding ..."'*'and so forth", got ..."'*'and so on'* ]]
	# Nothing is said of the end, which follows from that.
	[[ $output != *"end: expected"* ]]
}

# A case with these expectations differs, and the first line about it begins with WHAT.
differs() { # WHAT EXPECTATION...
	rm -rf judge/rehearsal
	printf '%s\n' 'params: {limit: 5}' 'expect:' "${@:2}" | a_case only
	run --separate-stderr agent6 machine rehearse --format text judge
	echo "$1: $output $stderr"
	[[ $status -eq 1 && ${lines[1]} == "    $1"* && ${lines[-1]} == "1 case, 1 differs" ]]
}

@test "each expectation that does not hold is named, with both sides" {
	differs "end: expected alarm, got quiet" '  end: alarm'
	differs "status: expected failed, got ok in quiet" '  status: failed'
	differs "exit_code: expected 20, got 0" '  exit_code: 20'
	differs "path: step 2 differs: expected weigh -> alarm, got weigh -> decide -> quiet" '  path: [weigh, alarm]'
	differs "path: step 3 differs: expected weigh -> decide, got weigh -> decide -> quiet" '  path: [weigh, decide]'
	differs "passes: alarm was not entered after weigh" '  passes: [weigh, alarm]'
	differs "passes: weigh was not entered after decide" '  passes: [decide, weigh]'
	differs 'vars.found.count: expected "1", got 1' '  vars: {found: {count: "1"}}'
	differs 'vars.found.share: expected 1, got 0.5' '  vars: {found: {share: 1}}'
	differs 'returns.severity: expected "high", got "low"' '  returns: {severity: high}'
	differs 'files.report.md: expected text holding "level is 2", got "the level is 1' '  files: {report.md: {contains: level is 2}}'
	differs 'files.other.md: there is no such file' '  files: {other.md: {contains: x}}'
	differs 'files.report.md: expected no such file' '  files: {report.md: {absent: true}}'
	differs "files.report.md: expected the digest $(printf '0%.0s' {1..64}), got " \
		"  files: {report.md: {sha256: \"$(printf '0%.0s' {1..64})\"}}"
	differs 'egress: api.example:443 was not contacted' '  egress: ["api.example:443"]'
	differs 'left_over: expected 3 lines of the cassette, got 0' '  left_over: 3'
	rm -rf judge/rehearsal
	a_case only <<<'params: {limit: 5, level: 9}'
	run --separate-stderr agent6 machine rehearse --format text judge
	[[ $status -eq 1 && ${lines[1]} == "    status: expected ok, got failed in broken"* ]]
}

@test "a file is not looked for through a link, and never outside the workspace" {
	sed -i 's/^echo "the level/ln -s \/etc\/passwd report.md; #/' judge/scripts/weigh.sh
	differs 'files.report.md: it is or passes through a symbolic link' '  files: {report.md: {contains: root}}'
	local path
	for path in ../x /etc/passwd a//b . a/../b ''; do
		printf '%s\n' 'params: {limit: 5}' 'expect:' "  files: {\"$path\": {contains: x}}" | a_case only
		run -2 --separate-stderr agent6 machine rehearse judge
		[[ $stderr == *"case.yaml:3:11: error[rehearsal-case]: this is no path below the workspace"* ]]
	done
}

@test "the workspace is the case's, else the bundle's, else empty, and never the working directory" {
	echo outside >note.txt
	printf '%s\n' 'params: {limit: 5}' 'expect: {files: {note.txt: {absent: true}}}' | a_case good
	agent6 machine rehearse --format text judge
	mkdir judge/rehearsal/workspace
	echo shared >judge/rehearsal/workspace/note.txt
	printf '%s\n' 'params: {limit: 5}' 'expect: {files: {note.txt: {contains: shared}}}' | a_case good
	agent6 machine rehearse --format text judge
	mkdir judge/rehearsal/good/workspace
	echo own >judge/rehearsal/good/workspace/note.txt
	printf '%s\n' 'params: {limit: 5}' 'expect: {files: {note.txt: {contains: own}}}' | a_case good
	agent6 machine rehearse --format text judge
}

@test "one case is shown as a run; parameters of the call count more; options for one need it chosen" {
	three_cases
	run --separate-stderr agent6 machine rehearse --case refused judge
	echo "$output" "$stderr"
	[[ $status -eq 0 && $output == *"outcome       failed: level 7"* ]]
	run --separate-stderr agent6 machine rehearse --case refused --set level=2 judge
	echo "$output" "$stderr"
	[[ $status -eq 1 && $stderr == *"rehearsal: end: expected alarm, got quiet"* ]]
	run -2 --separate-stderr agent6 machine rehearse --case nothing judge
	[[ $stderr == *"the bundle has no case nothing; it has broken, good, refused"* ]]
	local option
	for option in --json --exit-on-wait "--dir kept" "--cassette x.jsonl"; do
		# shellcheck disable=SC2086 # an option and its value
		run -2 --separate-stderr agent6 machine rehearse $option judge
		[[ $stderr == *"${option%% *} is about one rehearsal, and the bundle has 3 cases: choose one with --case NAME"* ]]
	done
	run --separate-stderr agent6 machine rehearse --case good --json judge
	[[ $status -eq 0 && $(jq -r .t <<<"${lines[0]}") == begin && $(jq -r .state <<<"${lines[-1]}") == quiet ]]
}

@test "all cases are checked before one runs" {
	three_cases
	a_case late <<<'expect: {end: alram}'
	sed -i 's/limit: 5/limit: many/' judge/rehearsal/refused/case.yaml
	sed -i 's/^expect:$/expext:/' judge/rehearsal/good/case.yaml
	touch judge/rehearsal/good/casette.jsonl
	run -2 --separate-stderr agent6 machine rehearse judge
	echo "$stderr"
	[[ -z $output ]]
	[[ $stderr == *"judge/rehearsal/late/case.yaml:1:15: error[rehearsal-case]: the machine has no state \"alram\""* ]]
	[[ $stderr == *"judge/rehearsal/refused/case.yaml:1:17: error[rehearsal-case]: "* ]]
	[[ $stderr == *"judge/rehearsal/good/case.yaml:3:1: error[unknown-key]: "*'did you mean `expect`?'* ]]
	[[ $stderr == *"judge/rehearsal/good/casette.jsonl: error[rehearsal-case]: no rehearsal reads this file"* ]]
	# So does `check`.
	run -2 --separate-stderr agent6 machine check judge
	[[ $stderr == *"case.yaml:1:15: error[rehearsal-case]"* ]]
	# A parameter that a start needs.
	rm -r judge/rehearsal
	a_case alone <<<'expect: {end: quiet}'
	run -2 --separate-stderr agent6 machine rehearse --format text judge
	echo "$stderr"
	[[ -z $output && $stderr == *"case alone: "*limit*"the level from which the alarm is raised"* ]]
}

@test "a state that is not granted something ends all cases with exit 2, and each is named" {
	three_cases
	sed -i 's/    timeout_secs: 30/&\n    secrets: [token]/' judge/machine.yaml
	run -2 --separate-stderr agent6 machine rehearse judge
	echo "$output" "$stderr"
	[[ $output == *"refused  broken"*token* && $output == *"3 cases, 0 differ, 3 refused" ]]
}

@test "loose cassettes beside cases are the case default, which looks at the end's status alone" {
	cp -r "$AGENT6_SRC/examples/hello" hello
	mkdir hello/rehearsal/again
	cp hello/rehearsal/hello.jsonl hello/rehearsal/again/cassette.jsonl
	echo 'description: the same' >hello/rehearsal/again/case.yaml
	run --separate-stderr agent6 machine rehearse hello
	echo "$output"
	[[ $status -eq 0 && ${lines[0]} == "ok       again"*"the same" && ${lines[1]} == "ok       default" ]]
	# A line that nothing asks for makes a case differ, but not the default.
	sed -n 2p hello/rehearsal/hello.jsonl >more
	cat more >>hello/rehearsal/hello.jsonl
	cat more >>hello/rehearsal/again/cassette.jsonl
	run --separate-stderr agent6 machine rehearse hello
	echo "$output"
	[[ $status -eq 1 && ${lines[1]} == "    left_over: expected 0 lines of the cassette, got 1" && ${lines[2]} == "ok       default" ]]
}

@test "of a machine that writes code, the files are those of its branch" {
	cp -r "$AGENT6_SRC/examples/code-fixer" fixer
	mkdir fixer/rehearsal/fixes
	mv fixer/rehearsal/code-fixer.jsonl fixer/rehearsal/fixes/cassette.jsonl
	cp fixer/rehearsal/workspace/gears.sh before.sh
	printf '%s\n' "expect: {files: {gears.sh: {sha256: $(sha256sum <before.sh | cut -c -64)}}}" >fixer/rehearsal/fixes/case.yaml
	run --separate-stderr agent6 machine rehearse --format text fixer
	echo "$output" "$stderr"
	[[ $status -eq 1 && ${lines[1]} == "    files.gears.sh: expected the digest "* ]]
}

@test "a case without a cassette may expect that no model is asked; one that is asked has nothing to say" {
	cp -r "$AGENT6_SRC/examples/digest" digest
	rm digest/rehearsal/summary/cassette.jsonl
	run --separate-stderr agent6 machine rehearse digest
	echo "$output"
	[[ $status -eq 1 && ${lines[0]} == "ok       nothing"* && ${lines[1]} == "ok       refused"* ]]
	[[ ${lines[2]} == "differs  summary"* && ${lines[3]} == "    state summarise, step 3, turn 0: "* ]]
}

hostile() {
	three_cases
	a_case odd <<'END'
description: "5 > 3 & 2 <!-- # SKIP later \e[31m ]]> \"::error::%0A, \\ end"
params: {limit: 5}
expect: {end: alarm}
END
}

@test "TAP: prove reads it, and a description is no directive" {
	need prove
	hostile
	agent6 machine rehearse --format tap judge >result.tap || [[ $? -eq 1 ]]
	cat result.tap
	[[ $(head -n 1 result.tap) == 1..4 && $(grep -c '^ok' result.tap) -eq 3 ]]
	grep -q '^not ok 3 - odd: 5 > 3 & 2 <!-- \\# SKIP later ' result.tap
	run prove --exec cat result.tap
	[[ $status -ne 0 && $output == *"Failed 1/4 subtests"* ]]
}

@test "JUnit: it is well formed, counts, and holds the differences" {
	need python3
	hostile
	agent6 machine rehearse --format junit judge >result.xml || [[ $? -eq 1 ]]
	cat result.xml
	python3 - <<'END'
import xml.etree.ElementTree as tree
suite = tree.parse("result.xml").getroot().find("testsuite")
assert (suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("judge", "4", "1", "0")
cases = {case.get("name"): case for case in suite.findall("testcase")}
assert sorted(cases) == ["broken", "good", "odd", "refused"] and all(float(case.get("time")) >= 0 for case in cases.values())
assert cases["odd"].find("failure").get("message").startswith("end: expected alarm, got quiet")
assert all(cases[name].find("failure") is None for name in ("broken", "good", "refused"))
END
}

@test "GitHub: one annotation for each case that differs, with the file of the case" {
	hostile
	run --separate-stderr agent6 machine rehearse --format github judge
	echo "$output"
	[[ $status -eq 1 && ${lines[0]} == "::error title=rehearsal odd,file=judge/rehearsal/odd/case.yaml,line=1::end: expected alarm, got quiet"* ]]
	[[ ${lines[1]} == "4 cases, 1 differs" && ${#lines[@]} -eq 2 ]]
}

@test "coverage counts states, edges, clauses both ways and outcomes, and names those that are missing" {
	three_cases
	agent6 machine rehearse --coverage json judge >sums 2>results
	cat sums results
	jq -e '. == {
		states: {covered: 5, total: 5, missing: []},
		edges: {covered: 4, total: 5, missing: ["weigh: timeout -> broken"]},
		clauses: {covered: 2, total: 2, missing: []},
		outcomes: {covered: 2, total: 3, missing: ["weigh: timeout"]}}' sums
	grep -q '^3 cases, 0 differ$' results
	rm -r judge/rehearsal/refused judge/rehearsal/broken
	run --separate-stderr agent6 machine rehearse --coverage text judge
	echo "$output"
	[[ $status -eq 0 && $output == *$'states     60 %  3 of 5\n    alarm\n    broken\nedges      40 %  2 of 5\n'* ]]
	[[ $output == *$'clauses    50 %  1 of 2\n    decide: never true: found.count >= limit\noutcomes   33 %  1 of 3' ]]
	# A case that differs covers all the same.
	sed -i '/^expect:$/,$d' judge/rehearsal/good/case.yaml
	echo 'expect: {end: alarm}' >>judge/rehearsal/good/case.yaml
	agent6 machine rehearse --coverage json judge 2>results >sums || [[ $? -eq 1 ]]
	jq -e '.states.covered == 3' sums
}

@test "the coverage, and a case, are as their published schemas say" {
	need python3
	python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed (make deps)"
	three_cases
	a_case json <<'END'
{"description": "YAML holds JSON", "params": {"limit": 5}, "expect": {"end": "quiet", "status": "ok", "exit_code": 0,
 "path": ["weigh", "decide", "quiet"], "passes": ["quiet"], "vars": {"found": {"count": 1}}, "returns": {"share": 0.5},
 "files": {"report.md": {"contains": "level"}, "x": {"absent": true}}, "egress": [], "left_over": 0}}
END
	agent6 machine rehearse --coverage json judge >sums 2>results
	python3 - "$AGENT6_SRC/schema" <<'END'
import json, jsonschema, sys
def check(name, values):
    schema = json.load(open(f"{sys.argv[1]}/{name}.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for value in values:
        jsonschema.Draft202012Validator(schema).validate(value)
check("coverage", [json.load(open("sums"))])
check("case", [json.load(open("judge/rehearsal/json/case.yaml"))])
END
}

@test "--min-coverage fails below its percentage of edges, and at no other time" {
	three_cases
	agent6 machine rehearse --min-coverage 80 judge
	run --separate-stderr agent6 machine rehearse --min-coverage 81 judge
	[[ $status -eq 1 && $stderr == *"the cases take 80 % of the edges, and --min-coverage asks for 81"* ]]
	run -2 --separate-stderr agent6 machine rehearse --min-coverage 101 judge
	run -2 --separate-stderr agent6 machine rehearse --coverage json --format tap judge
	[[ $stderr == *"both print for a program"* ]]
	run -2 --separate-stderr agent6 machine rehearse --coverage text --case good --json judge
	[[ $stderr == *"--json prints a journal"* ]]
}

@test "Cobertura: a line for each state and edge, with its place in the machine file" {
	need python3
	three_cases
	agent6 machine rehearse --coverage cobertura judge >coverage.xml 2>results
	cat coverage.xml
	python3 - <<'END'
import xml.etree.ElementTree as tree
top = tree.parse("coverage.xml").getroot()
it = top.find("packages/package/classes/class")
assert (it.get("name"), it.get("filename")) == ("judge", "judge/machine.yaml")
lines = [(int(line.get("number")), line.get("hits")) for line in it.findall("lines/line")]
assert len(lines) == 10 and [hits for _, hits in lines].count("0") == 1
assert (int(top.get("lines-covered")), int(top.get("lines-valid")), top.get("line-rate")) == (9, 10, "0.9000")
text = open("judge/machine.yaml").read().splitlines()
assert "on: {ok: decide" in text[lines[1][0] - 1] and text[lines[0][0] - 1] == "  weigh:"
END
}

@test "an interrupted suite leaves no stage behind" {
	three_cases
	sed -i 's/^echo/sleep 60; echo/' judge/scripts/weigh.sh
	mkdir tmp
	TMPDIR=$SCRATCH/tmp "$AGENT6_BIN/agent6" machine rehearse judge >out 2>&1 3>&- &
	local suite=$!
	two_stages() { [[ $(find tmp -name journal.jsonl | wc -l) -eq 2 ]]; }
	eventually two_stages
	kill -TERM "$suite"
	wait "$suite" || true
	no_stage() { [[ -z $(ls tmp) ]]; }
	eventually no_stage || { find tmp -maxdepth 3; ps -ef | grep agent6; cat out; false; }
}

@test "docs/rehearsing.md names every key of a case" {
	local key
	while read -r key; do
		grep -q "\`$key\`" "$AGENT6_SRC/docs/rehearsing.md" || { echo "no word of $key"; return 1; }
	done < <(jq -r '[.. | objects | .properties? // empty | keys[]] | unique[]' "$AGENT6_SRC/schema/case.schema.json")
}
