# `machine test` and `machine graph`: machines looked at without running anything.
load ../kit/common

GOLDEN=$AGENT6_SRC/tests/golden/good

@test "machine test passes a machine that binds and routes, and names the clause that wins" {
	run -0 agent6 machine test "$GOLDEN/triage"
	[[ $output == *"have_items "*"-> drained"*"remaining == 0: true"* ]]
	[[ $output == *"17 of 17 edges taken"*"0 failures"* ]]
}

@test "machine test exits 1 with the failing state and the way there" {
	run -1 agent6 machine test "$GOLDEN/maybe-unset"
	[[ $output == *'FAILED act: "verdict.label" was read'* ]]
	[[ $output == *"path: scan -> act"* ]]
}

@test "machine test lists the edges that no path takes" {
	cat >"$SCRATCH/m.asm.yaml" <<-'EOF'
		machine: m
		version: 1
		initial: choose
		budget: {max_transitions: 3}
		vars: {operator: {f: {type: float, value: 0.5}}}
		states:
		  choose: {kind: branch, when: [{if: f < 0.25, goto: low}, {else: true, goto: high}]}
		  low: {kind: terminal, status: ok, reason: low}
		  high: {kind: terminal, status: ok, reason: high}
	EOF
	run -0 agent6 machine test "$SCRATCH/m.asm.yaml"
	[[ $output == *"never taken: choose [f < 0.25] -> low"*"1 of 2 edges taken in 2 situations; 0 failures" ]]
}

@test "machine test --json is one object" {
	run -1 agent6 machine test --json "$GOLDEN/maybe-unset"
	[[ $(jq -r '.failures, (.events[] | select(.t == "failure") | .state)' <<<"$output" | head -2) == $'3\nact' ]]
}

@test "a fixture decides branches, in any syntax, and is checked" {
	printf 'remaining: 2\nverdict: {label: urgent, score: 5}\n' >"$SCRATCH/fixture.yaml"
	run -0 agent6 machine test --blackboard "$SCRATCH/fixture.yaml" "$GOLDEN/triage"
	[[ $output == *"remaining == 0: false"* && $output == *"route "*"-> act"* ]]
	echo '{"remaining": "2"}' >"$SCRATCH/fixture.json"
	run -2 agent6 machine test --blackboard "$SCRATCH/fixture.json" "$GOLDEN/triage"
	[[ $output == *"remaining: expected an integer (int), got a string"* ]]
	run -2 agent6 machine test --blackboard "$SCRATCH/none.json" "$GOLDEN/triage"
}

@test "machine test refuses a broken machine" {
	run -2 agent6 machine test "$AGENT6_SRC/tests/golden/broken/trap"
	[[ $output == *"error[trap]"* ]]
}

@test "machine graph draws Mermaid, DOT, text and, where Graphviz is, SVG" {
	run -0 agent6 machine graph "$GOLDEN/triage"
	[[ $output == "triage: 7 states"*"▶ scan  (tool)"* ]]
	LC_ALL=C run -0 agent6 machine graph "$GOLDEN/triage"
	[[ $output == "triage: 7 states"*"> scan  (tool)"* ]]
	LC_ALL='' LANG=C LC_CTYPE=en_US.utf8 run -0 agent6 machine graph "$GOLDEN/triage"
	[[ $output == *"▶ scan  (tool)"* ]]
	run -0 agent6 machine graph --format mermaid "$GOLDEN/triage"
	[[ $output == "flowchart TD"* ]]
	run -0 agent6 machine graph --format dot "$GOLDEN/triage"
	[[ $output == 'digraph "triage"'* ]]
	command -v dot >/dev/null || skip "Graphviz is not installed"
	run -0 agent6 machine graph --format svg "$GOLDEN/triage"
	[[ $output == *"<svg"* ]]
}
