# machine check: what is printed where, and the exit codes.
load ../kit/common

machine() {
	mkdir -p "$SCRATCH/$1"
	cat >"$SCRATCH/$1/machine.yaml"
}

good() {
	machine "$1" <<-'END'
		machine: demo
		version: 1
		initial: done
		budget: {max_transitions: 3}
		vars: {}
		states:
		  done: {kind: terminal, status: ok, reason: fine}
	END
}

@test "the examples are accepted" {
	run --separate-stderr agent6 machine check "$AGENT6_SRC"/examples/*/
	echo "$stderr"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ ${lines[0]} == *": ok: machine "*", sha256:"* ]]
}

@test "findings: all of them, in order, on stderr, with a caret" {
	machine bad <<-'END'
		machine: demo
		version: 1
		initial: nowhere
		budget: {max_transitions: 3}
		vars: {}
		states:
		  done: {kind: terminal, status: fine, reason: x}
	END
	cd "$SCRATCH"
	run --separate-stderr agent6 machine check bad
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == *"bad/machine.yaml:3:10: error["* ]]
	[[ $stderr == *"bad/machine.yaml:7:34: error["*"^^^^"* ]]
}

@test "--format json is an array" {
	need jq
	machine bad <<-'END'
		machine: demo
		version: 1
	END
	run --separate-stderr agent6 machine check --format json "$SCRATCH/bad"
	[ "$status" -eq 2 ]
	jq -e 'length > 0 and all(.[]; has("rule") and has("severity") and has("message") and has("file")
		and has("line") and has("column") and has("end_line") and has("end_column"))' <<<"$output"
	good fine
	run --separate-stderr agent6 machine check --format json "$SCRATCH/fine"
	[ "$status" -eq 0 ]
	[ "$output" = "[]" ]
	run --separate-stderr agent6 machine check --json "$SCRATCH/fine"
	[ "$output" = "[]" ]
	run --separate-stderr agent6 machine check --json --format text "$SCRATCH/fine"
	[ "$status" -eq 2 ]
}

@test "several bundles: one that is missing does not hide the others" {
	good fine
	run --separate-stderr agent6 machine check "$SCRATCH/fine" "$SCRATCH/missing"
	[ "$status" -eq 2 ]
	[[ $output == *"fine: ok"* ]]
	[[ $stderr == *"missing: No such file"* ]]
}

@test "a name that leads to no bundle is a finding, for a program that reads them, too" {
	need jq
	local format
	run --separate-stderr agent6 machine check --json "$SCRATCH/none"
	[[ $status -eq 2 && -z $stderr ]]
	[[ $(jq -c --arg file "$SCRATCH/none" '[.[] | {severity, rule, at: (.file == $file)}]' <<<"$output") == \
		'[{"severity":"error","rule":"bundle-open","at":true}]' ]]
	for format in text github sarif markdown; do
		run agent6 machine check --format "$format" "$SCRATCH/none"
		echo "$format: $output"
		[[ $status -eq 2 && $output == *"bundle-open"* && $output == *"No such file or directory"* ]]
	done
}

@test "a breach of the bundle's confinement is a finding" {
	good linked
	mkdir "$SCRATCH/linked/scripts"
	ln -s /etc/passwd "$SCRATCH/linked/scripts/x"
	run --separate-stderr agent6 machine check "$SCRATCH/linked"
	[ "$status" -eq 2 ]
	[[ $stderr == *"linked/scripts/x: error[bundle-link]"* ]]
	[ -z "$output" ]
}

# The reason that keeps a file out of the bundle is reported once; a missing file would be another mistake.
@test "a file that is refused is not missing, too" {
	local path=$SCRATCH/refused
	good refused
	cat >"$path/machine.yaml" <<-'END'
		machine: refused
		version: 1
		initial: look
		budget: {max_transitions: 9}
		schemas: {said: {text: str}}
		states:
		  look: {kind: tool, command: [scripts/look], timeout_secs: 9, on: {ok: ask, nonzero: done, timeout: done}}
		  ask: {kind: agent, prompt_file: prompts/ask, output_schema: said, timeout_secs: 9, on: {ok: done, failed: done, budget_exhausted: done, timeout: done}}
		  done: {kind: terminal, status: ok, reason: done}
	END
	rules() { agent6 machine check --json "$path" | jq -c 'map(.rule)'; }
	mkdir -p "$path/scripts" "$path/prompts"
	printf '#!/bin/sh\n' >"$path/scripts/look"
	chmod 4755 "$path/scripts/look"
	ln -s nowhere "$path/prompts/ask"
	[ "$(rules)" = '["bundle-link","bundle-file"]' ]
	rm "$path/prompts/ask"
	[ "$(rules)" = '["bundle-file","missing-file"]' ]
	chmod 755 "$path/scripts/look"
	mv "$path/scripts" "$path/elsewhere"
	ln -s elsewhere "$path/scripts"
	[ "$(rules)" = '["bundle-link","missing-file"]' ]
	rm "$path/scripts"
	mv "$path/elsewhere" "$path/scripts"
	printf 'Say.\n' >"$path/prompts/ask"
	[ "$(rules)" = '[]' ]
	truncate -s $((16 << 20)) "$path"/prompts/b{1..5}
	[ "$(rules)" = '["bundle-limit"]' ]
}

@test "the name of a bundle cannot drive the terminal" {
	good $'fi\e[31mne'
	cd "$SCRATCH"
	run --separate-stderr agent6 machine check fi*
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == 'fi\x1b[31mne: ok: '* ]]
}

@test "the description is shown, and cannot drive the terminal" {
	machine told <<-'END'
		machine: told
		version: 1
		description: "Says\n\x1b[31mred."
		initial: done
		budget: {max_transitions: 3}
		vars: {}
		states:
		  done: {kind: terminal, status: ok, reason: fine}
	END
	run --separate-stderr agent6 machine check "$SCRATCH/told"
	[ "$status" -eq 0 ]
	[ "${lines[1]}" = "  Says \x1b[31mred." ]
}

@test "a secret that was pasted into a description is shown by no command" {
	machine leaky <<-'END'
		machine: leaky
		version: 1
		description: Asks with sk-proj-Zb9Kq2Lm4Np6Rs8Tu0VwXy1Za3Cd5Ef7 for the weather.
		initial: done
		budget: {max_transitions: 3}
		states:
		  done: {kind: terminal, status: ok, reason: fine}
	END
	export AGENT6_STATE_HOME=$SCRATCH/state
	says() {
		run agent6 "$@"
		[ "$status" -eq 0 ]
		[[ $output == *"Asks with"* && $output != *Zb9Kq2* ]]
	}
	says machine check "$SCRATCH/leaky"
	says machine inspect "$SCRATCH/leaky"
	says machine inspect --json "$SCRATCH/leaky"
	mkdir "$SCRATCH/repo" && cd "$SCRATCH/repo" || return
	says machine new copy --from "$SCRATCH/leaky"
	run agent6 machine run "$SCRATCH/leaky"
	[ "$status" -eq 0 ]
	says machine list --json
	says machine report leaky -o -
}

@test "ok is said of what is accepted, and of nothing else" {
	good fine
	machine warned <<-'END'
		machine: warned
		version: 1
		initial: done
		budget: {max_transitions: 3}
		vars: {operator: {unused: {type: int, value: 3}}}
		states:
		  done: {kind: terminal, status: ok, reason: fine}
	END
	cd "$SCRATCH"
	run --separate-stderr agent6 machine check warned fine
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "warned: ok: "* ]]
	[[ ${lines[1]} == "fine: ok: "* ]]
	run --separate-stderr agent6 machine check --strict warned fine
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "fine: ok: "* ]]
	run -0 --separate-stderr agent6 machine check --strict "$AGENT6_SRC/tests/golden/good/rule-of-two-gated"
	[[ $stderr == *": note[rule-of-two]: "* ]]
}

@test "untrusted data that is handed to and fro through a hundred states stays untrusted" {
	mkdir "$SCRATCH/long"
	{
		printf 'machine: long\nversion: 1\ninitial: ask\nbudget: {max_transitions: 200}\nschemas: {note: {text: str}}\n'
		printf 'vars:\n  agent: {v0: {type: note, default: {text: ""}}}\n  code:\n'
		seq -f '    v%.0f: {type: json, default: {}}' 100
		printf 'states:\n  ask: {kind: agent, prompt: x, output_schema: note, capture: {finish_json: v0}, timeout_secs: 6, '
		printf 'on: {ok: t0, failed: done, budget_exhausted: done, timeout: done}}\n'
		local i
		for i in $(seq 98 -2 0) $(seq 1 2 99); do # each hands on to the other side of those before
			printf '  t%d: {kind: tool, command: [echo, "{{ v%d | json }}"], workspace: none, timeout_secs: 6, ' "$i" "$i"
			printf 'capture: {stdout_json: v%d}, on: {ok: t%d, nonzero: done, timeout: done}}\n' $((i + 1)) $((i + 1))
		done
		printf '  t100: {kind: tool, command: [echo, "{{ v100 | json }}"], allow_network: allow, timeout_secs: 6, '
		printf 'on: {ok: done, nonzero: done, timeout: done}}\n  done: {kind: terminal, status: ok, reason: r}\n'
	} >"$SCRATCH/long/machine.yaml"
	run -0 --separate-stderr agent6 machine check "$SCRATCH/long"
	[[ $stderr == *'rule-of-two]: "t100" takes untrusted data'*"t99 -> v100 -> t100"* ]]
}

@test "the three forms check alike and have one digest" {
	good form
	cp "$SCRATCH/form/machine.yaml" "$SCRATCH/demo.asm.yaml"
	agent6 machine pack "$SCRATCH/form" -o "$SCRATCH/demo.asm"
	run --separate-stderr agent6 machine check "$SCRATCH/form" "$SCRATCH/demo.asm.yaml" "$SCRATCH/demo.asm"
	[ "$status" -eq 0 ]
	[ "$(grep -o 'sha256:.*' <<<"$output" | sort -u | wc -l)" -eq 1 ]
}

@test "nothing is written" {
	good fine
	find "$SCRATCH" -printf '%p %T@ %s\n' | sort >"$BATS_TEST_TMPDIR/before"
	HOME=$SCRATCH agent6 machine check "$SCRATCH/fine"
	find "$SCRATCH" -printf '%p %T@ %s\n' | sort >"$BATS_TEST_TMPDIR/after"
	cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "what JSON does not have is named" {
	local text
	mkdir "$SCRATCH/json"
	for text in '{"machine": "x",}' '{"states": [1, ]}'; do
		echo "$text" >"$SCRATCH/json/machine.json"
		run -2 agent6 machine check "$SCRATCH/json"
		[[ $output == *"help: no comma may follow the last item"* ]]
	done
	printf '{"machine": "x" // its name\n}' >"$SCRATCH/json/machine.json"
	run -2 agent6 machine check "$SCRATCH/json"
	[[ $output == *"help: JSON has no comments"* ]]
	echo '{"machine": }' >"$SCRATCH/json/machine.json"
	run -2 agent6 machine check "$SCRATCH/json"
	[[ $output != *"help: "* ]]
}

@test "a field may be called whatever, and is said to be none" {
	local name
	name=$(head -c 70000 /dev/zero | tr '\0' b)
	mkdir "$SCRATCH/long"
	cat >"$SCRATCH/long/machine.json" <<-END
		{"machine": "long", "version": 1, "initial": "done", "budget": {"max_transitions": 1},
		"schemas": {"pair": {"left": "str"}},
		"vars": {"operator": {"both": {"type": "pair", "value": {"$name": 1}}}},
		"states": {"done": {"kind": "terminal", "status": "ok", "reason": "{{ both | json }}"}}}
	END
	run -2 agent6 machine check "$SCRATCH/long"
	[[ $output == *"machine.json:3:"*": error[value-type]: both.bbb"*": pair has no such field"* ]]
}

# full FIRST LINE: a file of 160,000 times LINE (for seq -f) below FIRST is answered at once.
full() {
	mkdir "$SCRATCH/full"
	{ echo "$1" && seq -f "$2" 160000; } >"$SCRATCH/full/machine.yaml"
	ulimit -t 8
	run -2 agent6 machine check "$SCRATCH/full"
	[[ $output == *"and 150"*" more" ]]
}

@test "a file full of keys that are refused is answered as soon as any other" {
	full 'states:' '  s%.0f: {1: 1}'
}

@test "a file full of types that are none is answered as soon as any other" {
	full 'schemas:' '  r%.0f: {a: none}'
}

@test "findings that no format has room for are said on standard error" {
	local format
	mkdir "$SCRATCH/full"
	{ echo 'schemas:' && seq -f '  r%.0f: {a: none}' 10100; } >"$SCRATCH/full/machine.yaml"
	for format in json sarif github; do
		run -2 --separate-stderr agent6 machine check --format $format "$SCRATCH/full"
		[[ $stderr =~ ^"agent6: "[0-9]+" more findings are left out" ]]
	done
}

@test "a cassette that a rehearsal would refuse is named with its line, and changes nothing else" {
	cp -r "$AGENT6_SRC/examples/hello" "$SCRATCH/hello"
	local cassette=$SCRATCH/hello/rehearsal/b.jsonl
	run -0 agent6 machine check --strict "$SCRATCH/hello"
	cat >"$cassette" <<-'END'
		{"state":"greet","reply":{"text":"hi"}}

		{"state":"greet","reply":{
		{"state":"greet","replies":{}}
		{"state":"great","reply":{"text":"hi"}}
		{"state":"great","poke":{"message":"go"}}
	END
	run -0 agent6 machine check "$SCRATCH/hello"
	echo "$output"
	[[ $(grep -c 'cassette-line' <<<"$output") -eq 4 ]]
	[[ $output == *"$cassette:3:1: warning[cassette-line]: not valid JSON at column "* ]]
	[[ $output == *"$cassette:4:1: warning[cassette-line]: unknown key \"replies\"; those there are: "* ]]
	[[ $output == *"$cassette:5:1: warning[cassette-line]: the machine has no state \"great\""* ]]
	[[ $output == *"$cassette:6:1: warning[cassette-line]: the machine has no state"* ]]
	[[ $(agent6 machine check --json "$SCRATCH/hello") == *'"cassette-line"'* ]]
	run -2 agent6 machine check --strict "$SCRATCH/hello"
	mkdir "$SCRATCH/hello/rehearsal/workspace/deeper"
	mv "$cassette" "$SCRATCH/hello/rehearsal/workspace/deeper/" # which no rehearsal plays
	run -0 agent6 machine check --strict "$SCRATCH/hello"
}

@test "a secret pasted into a machine is in no format, and in no line that is quoted" {
	local key filler format
	filler=$(printf 'a%.0s' {1..60})
	machine pasted <<-END
		machine: pasted
		version: 1
		budget: {max_transitions: 5}
		initial: go
		states:
		  go:
		    kind: tool
		    command: ["$filler", "https://user:hunter1hunter1@h/x", "{{ https://user:hunter2hunter2@h/ }}", "{{"]
		    env: {API_TOKEN: 90210902109}
		    stdin: |
		      {{ a b }} -----BEGIN PRIVATE KEY-----
		      {{ c d }} hunter3hunter3
		      -----END PRIVATE KEY-----
		    timeout_secs: 5
		    on: {ok: done, nonzero: done, timeout: "https://user:hunter4hunter4@h"}
		  "https://user:hunter5hunter5@h": {kind: terminal, status: ok}
		  done: {kind: terminal, status: ok, reason: x}
	END
	for format in text json sarif github markdown; do
		run agent6 machine check --format $format "$SCRATCH/pasted"
		[ "$status" -eq 2 ]
		[[ $output == *REDACTED* ]]
		for key in unter 90210902109; do
			[[ $output != *"$key"* ]] || { echo "$format shows $output"; return 1; }
		done
	done
	run agent6 machine run "$SCRATCH/pasted" --set https://user:hunter6hunter6@h
	[[ $status -eq 2 && $output != *unter6* ]]
}

@test "a secret in a command is left out of the report on it" {
	local format
	good spoken
	sed -i 's/^initial: done/initial: go/; s/^states:/&\
  go:\
    kind: tool\
    command: [echo, "https:\/\/user:hunter1hunter1@h\/x"]\
    timeout_secs: 5\
    on: {ok: done, nonzero: done, timeout: done}/' "$SCRATCH/spoken/machine.yaml"
	cd "$SCRATCH"
	for format in text json sarif github markdown; do
		run agent6 machine check --report --format $format spoken
		[ "$status" -eq 0 ]
		[[ $output == *REDACTED* && $output != *unter1* ]] || { echo "$format shows $output"; return 1; }
	done
}

@test "a key in a machine file is warned of wherever it stands, and not shown" {
	local key=ghp_0123456789abcdefghijABCDEFGHIJ012345 format
	machine keyed <<-END
		machine: keyed
		version: 1
		initial: go
		budget: {max_transitions: 5}
		states:
		  go:
		    kind: tool
		    command: [ls, "--header=x $key"]
		    env: {GITHUB: $key, COMMIT: 0123456789abcdef0123456789abcdef01234567}
		    timeout_secs: 5
		    on: {ok: done, nonzero: done, timeout: done}
		  done: {kind: terminal, status: ok, reason: x}
	END
	for format in text json sarif github; do
		run agent6 machine check --format $format "$SCRATCH/keyed"
		echo "$output"
		[[ $status -eq 0 && $output != *"$key"* ]]
		[[ $(grep -o 'a key stands here' <<<"$output" | wc -l) -eq 2 ]]
	done
	run -0 agent6 machine check "$SCRATCH/keyed"
	[[ $output == *"machine.yaml:8:"*"warning[literal-secret]"*"machine.yaml:9:"*"warning[literal-secret]"* ]]
	run -2 agent6 machine check --strict "$SCRATCH/keyed"
}

@test "a key in any other text of a bundle is warned of in its place" {
	local key=ghp_0123456789abcdefghijABCDEFGHIJ012345 form
	cd "$SCRATCH"
	agent6 machine new lit --from review
	cd lit
	printf 'über %s and %s too\r\n' "$key" "$key" >>prompts/read.md
	printf 'TOKEN=%s\n' "$key" >>scripts/write.sh
	printf -- '-----BEGIN OPENSSH PRIVATE %s-----\n%s\n-----END OPENSSH PRIVATE %s-----\n' KEY "$(seq -s '' 40)" KEY >rehearsal/workspace/id
	printf 'bin\0ary %s\n' "$key" >rehearsal/workspace/blob
	printf '%s' "$key" >rehearsal/whole
	agent6 machine pack "$SCRATCH/lit" -o "$SCRATCH/lit.asm"
	for form in lit lit.asm; do
		run -0 agent6 machine check "$SCRATCH/$form"
		echo "$output"
		[[ $output != *"$key"* && $(grep -c literal-secret <<<"$output") -eq 4 ]]
		run -0 agent6 machine check --json "$SCRATCH/$form"
		jq -r '.[] | "\(.file | ltrimstr("'"$SCRATCH/$form"'/")) \(.line):\(.column)-\(.end_column)"' <<<"$output" >found
		diff found - <<-END
			prompts/read.md $(wc -l <prompts/read.md):6-91
			rehearsal/whole 1:1-41
			rehearsal/workspace/id 1:1-36
			scripts/write.sh $(wc -l <scripts/write.sh):7-47
		END
	done
}

@test "what keys look like is no key" {
	cd "$SCRATCH"
	agent6 machine new lit --from review
	cat >>lit/prompts/read.md <<-END
		Look for AKIAIOSFODNN7EXAMPLE, and for
		-----BEGIN RSA PRIVATE KEY-----
		XXXX
		-----END RSA PRIVATE KEY-----
		or "-----BEGIN PRIVATE KEY-----\\nXXXX\\n-----END PRIVATE KEY-----".
	END
	sed -i 's/^description: .*/description: finds -----BEGIN EC PRIVATE KEY----- and AKIAI44QH8DHBEXAMPLE, AKIAIOSFODNN7EXAMPLE/' lit/machine.yaml
	printf 'AKIAIOSFODNN7EXAMPLE, AKIAI44QH8DHBEXAMPLE.\n' >>lit/prompts/read.md
	run -0 agent6 machine check --strict lit
	echo "$output"
	[[ $output != *literal-secret* ]]
	printf 'AKIA%s AKIAIOSFODNN7EXAMPLE\n' IOSFODNN7EXAMPLF >>lit/prompts/read.md
	run -2 agent6 machine check --strict lit
	[[ $output == *read.md:*:1:*literal-secret* ]]
	sed -i '$s/.*/AKIAIOSFODNN7EXAMPLE, ghp_%sEXAMPLE/' lit/prompts/read.md
	sed -i "\$s/%s/$(printf 'aB3%.0s' {1..10})/" lit/prompts/read.md
	run -2 agent6 machine check --strict lit
	[[ $output == *read.md:*:23:*literal-secret* ]]
	sed -i '$d' lit/prompts/read.md
	printf 'AKIAIOSFODNN7EXAMPLE then AKIA%s\n' IOSFODNN7EXAMPLF >>lit/prompts/read.md
	run -2 agent6 machine check --strict lit
	[[ $output == *read.md:*:27:*literal-secret* ]]
	# One behind the other: far from what looks like a key there may be one.
	{
		printf 'description: "finds -----BEGIN EC PRIVATE %s-----\\n' KEY
		printf 'word %.0s' {1..400}
		printf -- '-----BEGIN EC PRIVATE %s-----\\n%s"\n' KEY "$(seq -s '' 40)"
	} >description
	sed -i -e '/^description: /{r description' -e 'd}' lit/machine.yaml
	run -2 agent6 machine check --strict lit
	[[ $output == *machine.yaml*literal-secret*read.md*literal-secret* ]]
}

@test "an agent that is asked nothing is a mistake" {
	local prompt
	for prompt in 'prompt: ""' 'prompt: " \n"' 'prompt_file: prompts/blank.txt'; do
		machine mute <<-END
			machine: mute
			version: 1
			initial: go
			budget: {max_transitions: 5}
			schemas: {said: {text: str}}
			states:
			  go: {kind: agent, mode: agent, $prompt, output_schema: said, timeout_secs: 5, on: {ok: done, failed: done, timeout: done, budget_exhausted: done}}
			  done: {kind: terminal, status: ok, reason: x}
		END
		mkdir -p "$SCRATCH/mute/prompts"
		echo >"$SCRATCH/mute/prompts/blank.txt"
		run agent6 machine check "$SCRATCH/mute"
		echo "$output"
		[[ $status -eq 2 && $output == *"the prompt is empty"* ]]
	done
}

@test "annotations and SARIF name files as their repository does, wherever the check is started" {
	need git
	git init -q "$SCRATCH/repo"
	mkdir -p "$SCRATCH/repo/sub/deeper" "$SCRATCH/alone"
	good repo/sub/flow
	good alone/flow
	sed -i 's/reason: fine/raeson: fine/' "$SCRATCH"/{repo/sub,alone}/flow/machine.yaml
	cd "$SCRATCH/repo/sub/deeper"
	run -2 agent6 machine check --format github ../flow
	[[ $output == *"file=sub/flow/machine.yaml,line="* ]]
	run -2 agent6 machine check --format sarif ../flow
	[[ $output == *'"uri":"sub/flow/machine.yaml"'* ]]
	run -2 agent6 machine check --format json ../flow
	[[ $output == *'"file":"../flow/machine.yaml"'* ]]
	run -2 agent6 machine check --format github "$SCRATCH/alone/flow"
	[[ $output == *"file=$SCRATCH/alone/flow/machine.yaml,"* ]]
}

@test "a constant that a capture cannot set leads to the default of a variable" {
	machine constant <<-'END'
		machine: constant
		version: 1
		initial: go
		budget: {max_transitions: 5}
		vars: {code: {n: {type: int, default: 0}, five: {type: int, default: 5}}}
		states:
		  go: {kind: tool, command: [ls], timeout_secs: 1, capture: {set: {n: "5"}}, on: {ok: done, nonzero: done, timeout: done}}
		  done: {kind: terminal, status: ok, reason: "{{ n }}"}
	END
	run -2 agent6 machine check "$SCRATCH/constant"
	[[ $output == *"a constant is a variable's default: declare a variable, and let a lone {{ reference }} assign it"* ]]
	sed -i 's/n: "5"/n: "{{ five }}"/' "$SCRATCH/constant/machine.yaml"
	run -0 agent6 machine check "$SCRATCH/constant"
	[[ $output != *capture* ]]
}
