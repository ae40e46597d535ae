# A secret that the operator has, as often as a provider, a model, a file or a program says it, in
# every form that is looked for: what leaves the process holds none of it.
load ../kit/common

KEY='sk-local"key/0001+x'

setup() {
	need jq base64 od
	cd "$SCRATCH" || return
	export HOME=$SCRATCH XDG_CONFIG_HOME=$SCRATCH/config AGENT6_STATE_HOME=$SCRATCH/state
	mkfifo ready end
}

# The key in each of its forms, one a line: as it is, in JSON, twice so, in a URL, twice so, JSON in
# a URL, hex, base64.
forms() {
	jq -nr --arg k "$KEY" '$k, ($k | tojson[1:-1], (tojson[1:-1] | tojson[1:-1]), @uri, (@uri | @uri), (tojson[1:-1] | @uri))'
	printf %s "$KEY" | od -An -v -tx1 | tr -d ' \n'
	printf '\n%s\n' "$(printf %s "$KEY" | base64)"
}

# Finds the parts of each secret that no other word has; letters that need an escape differ.
left() { # FILE...
	grep -rnE --exclude-dir=bundle 'local.{1,16}key.{1,8}0001|6c6f63616c226b6579|c2stbG9jYWwia2V5' "$@"
}

# bundle: an agent that reads the forms, says and returns them, a tool that prints what it returned,
# and an agent whose provider refuses it with the forms in its words.
bundle() {
	mkdir -p held work
	forms >work/forms.txt
	cat >held/machine.yaml <<-'END'
		version: 1
		machine: held
		initial: read
		budget: {max_transitions: 9, max_usd: 5.0}
		schemas: {note: {text: str}}
		vars: {agent: {note: {type: note, default: {text: ""}}}}
		states:
		  read: {kind: agent, prompt: Read forms.txt., output_schema: note, capture: {finish_json: note}, timeout_secs: 60, on: {ok: print, failed: bad, budget_exhausted: bad, timeout: bad}}
		  print: {kind: tool, command: [sh, -c, 'printf "%s\n" "$1"', sh, "{{ note.text }}"], timeout_secs: 20, on: {ok: refused, nonzero: bad, timeout: bad}}
		  refused: {kind: agent, prompt: "Go on: {{ note.text }}", output_schema: note, capture: {finish_json: note}, timeout_secs: 60, on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}}
		  good: {kind: terminal, status: ok, reason: good}
		  bad: {kind: terminal, status: failed, reason: "{{ note.text }}"}
	END
	jq -Rsc '{state: "read", match: {turn: 0}, reply: {text: ., tool_calls: [
			{name: "read_file", arguments: {path: "forms.txt"}}, {name: "read_file", arguments: {path: .}},
			{name: split("\n")[0], arguments: {}}, {name: ., arguments: {}}]}},
		{state: "read", match: {}, reply: {text: ., tool_calls: [{name: "finish_run", arguments: {text: .}}]}},
		{state: "refused", match: {}, reply: {status: 401, error: ("no such key: " + .)}}' work/forms.txt >held.jsonl
}

provider() { # FORMAT
	"$AGENT6_BIN/agent6-cassette" --cassette ../held.jsonl --ready-fd 7 <../end 7>../ready 3>&- &
	exec 8>../end
	read -r port <../ready
	agent6 connect --name local --format "$1" --base-url "http://127.0.0.1:$port" --model test <<<"$KEY"
	agent6 config set providers.local.prices.test '{input: 1, output: 5}'
	printf '#!/bin/sh\ncat >>%s/told\n' "$SCRATCH" >../tell
	chmod +x ../tell
	agent6 config set machine.notify.on_event "[$SCRATCH/tell]"
}

@test "a key leaves a run by no way out, whatever form it has" {
	local format verb
	bundle
	cd work
	for format in anthropic openai; do
		rm -rf ../state ../config ../tapes ../told ../out && mkdir ../out
		provider "$format"
		agent6 machine run --allow-uncommitted --record ../tapes ../held >../out/stdout 2>../out/stderr || true
		exec 8>&-
		for verb in status "status --json" replay "replay --json" watch "watch --json" list "list --json"; do
			# shellcheck disable=SC2086
			timeout 60 "$AGENT6_BIN/agent6" machine $verb held >"../out/${verb// /}" 2>&1 || true
		done
		agent6 machine report held -o ../out/page.html
		agent6 audit >../out/audit 2>&1
		head -c 400 ../out/*
		# The run came to its end, and each way out says something.
		grep -q 'the provider answered 401' ../out/stdout
		grep -q "REDACTED:key" ../out/stdout
		[[ -s ../tapes/held.jsonl && -s ../told && -s ../out/page.html && -s ../out/audit ]]
		[[ -n $(find ../state -name transcript.jsonl) && -n $(find ../state -name journal.jsonl) ]]
		run left ../state ../tapes ../told ../out
		echo "$output"
		[[ -z $output ]]
	done
}
