# First mistakes of users, and whether the messages help them to go on.
load ../kit/common
load flow

# ends: a machine in ../flow that ends at once
ends() {
	flow_setup <<-'END'
		machine: flow
		version: 1
		initial: look
		budget: {max_transitions: 5}
		states:
		  look: {kind: wait, on: {signal: done}}
		  done: {kind: terminal, status: ok, reason: went}
	END
}

@test "run with an instance's id names its bundle's copy, and what it says to type goes on" {
	ends
	agent6 machine run ../flow --id monday --exit-on-wait --quiet
	run -2 --separate-stderr agent6 machine run monday
	[[ $stderr == *"there is no bundle monday, but an instance: "* ]]
	agent6 machine poke monday 2>said
	run -0 --separate-stderr eval "${stderr##*own copy: }"
	[[ $output == *"ok: went"* ]]
	run -2 --separate-stderr agent6 machine run tuesday
	[[ $stderr == *"cannot open tuesday: No such file"* ]]
}

@test "a changed bundle under the id of an instance that has ended is told so, and how to run it" {
	ends
	agent6 machine poke flow 2>said || :
	agent6 machine run ../flow --exit-on-wait --quiet
	agent6 machine poke flow 2>said
	agent6 machine run ../flow --quiet
	echo '# changed' >>../flow/machine.yaml
	run -2 --separate-stderr agent6 machine run ../flow
	[[ $stderr == *"instance flow has ended, and ran the bundle sha256:"* && $stderr != *"own copy"* ]]
	eval "${stderr##*first: }"
	agent6 machine run ../flow --exit-on-wait --quiet
}

@test "a provider that is not there is told those that are" {
	ends
	mkdir "$SCRATCH/.config" "$SCRATCH/.config/agent6"
	cat >"$SCRATCH/.config/agent6/config.yaml" <<-'END'
		providers: {local: {api_format: openai, base_url: "http://127.0.0.1:9"}}
		models: {worker: {provider: locl, model: m}, reviewer: {provider: other, model: m}}
	END
	run -2 --separate-stderr agent6 check config
	echo "$stderr"
	[[ $stderr == *"no provider is called \`locl\`"*'did you mean `local`?'*"no provider is called \`other\`"*'use `local`'* ]]
}

@test "a secret that others may have is granted by one more name, not anew" {
	ends
	sed -i 's/look: .*/look: {kind: tool, command: [ls], secrets: [token], timeout_secs: 5, on: {ok: done, nonzero: done, timeout: done}}/' ../flow/machine.yaml
	echo 'sandbox: {secrets: {token: {env: TOKEN, machines: [letter]}}}' >../config.yaml
	run -2 --separate-stderr agent6 machine run ../flow --config ../config.yaml
	echo "$stderr"
	[[ $stderr == *"not granted to machine flow; add flow to sandbox.secrets.token.machines in your configuration"* ]]
	run -2 --separate-stderr agent6 machine run ../flow
	[[ $stderr == *"grant it with sandbox.secrets.token: {env: VARIABLE, machines: [flow]}"* ]]
}

@test "a comment in Markdown holds the help, too" {
	ends
	sed -i 's/kind: wait/kind: wiat/' ../flow/machine.yaml
	run -2 --separate-stderr agent6 machine check --format markdown ../flow
	echo "$output"
	[[ $output == *'cannot be \`wiat\`<br>did you mean \`wait\`? |'* ]]
}

@test "a list of signers that is only a key is told what a line holds" {
	need ssh-keygen
	ends
	ssh-keygen -q -t ed25519 -N '' -f ../key
	agent6 machine pack ../flow -o ../flow.asm
	agent6 machine sign --key ../key ../flow.asm
	run -2 --separate-stderr agent6 machine check --allowed-signers ../key.pub ../flow.asm
	[[ $stderr == *"whose lines are NAME KEY"* ]]
	echo "ada@example.org $(cat ../key.pub)" >../signers
	agent6 machine check --allowed-signers ../signers ../flow.asm
}

@test "the blackboard in front of the first step can be asked for" {
	ends
	agent6 machine run ../flow --exit-on-wait --quiet
	run -0 --separate-stderr agent6 machine replay flow --to 0
	[ "$output" = '{}' ]
	agent6 machine poke flow 2>said
	agent6 machine run ../flow --quiet
	run -0 --separate-stderr agent6 machine replay flow --to 0
	[ "$output" = '{}' ]
}

@test "data that nests too deeply is told so, and is JSON all the same" {
	ends
	agent6 machine run ../flow --exit-on-wait --quiet
	run -2 --separate-stderr agent6 machine poke flow --data "$(printf '[%.0s' {1..70})$(printf ']%.0s' {1..70})"
	echo "$stderr"
	[[ $stderr == *"--data takes JSON, --message a text: the JSON text nests deeper than 63 levels"* ]]
	run -2 --separate-stderr agent6 machine poke flow --data yes
	[[ $stderr == *"--message a text: not valid JSON at column "* ]]
}

@test "a no-break space is named where it stands, though the line below is the first that cannot be read" {
	local slip
	ends
	cp ../flow/machine.yaml whole
	for slip in 's/budget: {/budget:\xc2\xa0{max_usd: 1, /|4:8' 's/  look: {/  look:\xc2\xa0{/|6:8'; do
		sed "${slip%|*}" whole >../flow/machine.yaml
		run -2 --separate-stderr agent6 machine check ../flow
		echo "$stderr"
		[[ $stderr == *"machine.yaml:${slip#*|}: error[yaml-syntax]: a no-break space (U+00A0) stands where a blank belongs"*"write a blank"* ]]
	done
}

@test "a field that may be missing: a branch asks first, a text may give the whole record" {
	flow_setup <<-'END'
		machine: flow
		version: 1
		initial: say
		budget: {max_transitions: 5}
		schemas: {r: {a: str, b: {type: str, optional: true}}}
		vars: {operator: {v: {type: r, value: {a: x}}}}
		states:
		  ask: {kind: branch, when: [{if: v.b == "x", goto: done}, {else: true, goto: done}]}
		  say: {kind: tool, command: [echo, "{{ v.b }}"], timeout_secs: 5, on: {ok: done, nonzero: ask, timeout: ask}}
		  done: {kind: terminal, status: ok, reason: went}
	END
	run -0 --separate-stderr agent6 machine check ../flow
	echo "$stderr"
	[[ $stderr == *'give what there is of the record: {{ v | json }}'* ]]
	sed -i 's/{{ v.b }}/{{ v | json }}/' ../flow/machine.yaml
	run -0 --separate-stderr agent6 machine check ../flow
	echo "$stderr"
	[[ $stderr == *'ask first, as in `has(v.b) and ...`'* ]]
	sed -i 's/v.b ==/has(v.b) and &/' ../flow/machine.yaml
	agent6 machine check --strict ../flow
}

@test "a cassette's line that is no JSON is named by its own number alone; a key that nobody gave is asked for" {
	ends
	printf '%s\n' '' '{"state": "x", }' >torn.jsonl
	run -2 --separate-stderr agent6 machine rehearse "$AGENT6_SRC/examples/hello" --cassette torn.jsonl
	echo "$stderr"
	[[ $stderr == *"torn.jsonl:2: not valid JSON at column "* ]]
	run -2 --separate-stderr agent6 connect --name a --format openai --base-url http://127.0.0.1:1 --model x </dev/null
	[[ $stderr == *$'empty for none: \nagent6: the key was not given; an empty line says that there is none' ]]
}

@test "a copy of an instance's directory is looked into by its path, and told nothing" {
	ends
	agent6 machine run ../flow --exit-on-wait --quiet
	agent6 machine poke flow 2>said
	agent6 machine run ../flow --quiet
	cp -r ../state/*/machines/flow ../evidence
	rm -r ../state
	run -0 --separate-stderr agent6 machine status ../evidence
	[[ $output == "evidence: ok in state done"* ]]
	run -0 --separate-stderr agent6 machine verify ../evidence/
	[[ $output == "evidence: "*"the chain is whole" ]]
	run -0 --separate-stderr agent6 machine replay ../evidence
	[[ $output == *"signal -> done"* ]]
	agent6 machine report ../evidence -o page.html
	grep -q '<h1>evidence' page.html
	run -2 --separate-stderr agent6 machine poke ../evidence
	[[ $stderr == *"is not an instance id"* && -z $(ls ../evidence/pokes) ]]
	sed -i 's/"signal"/"signol"/' ../evidence/journal.jsonl
	run -5 --separate-stderr agent6 machine verify ../evidence
	run -2 --separate-stderr agent6 machine verify ./nowhere
	[[ $stderr == *"./nowhere: No such file or directory" ]]
	mv ../evidence "../Exhibit A"
	run -2 --separate-stderr agent6 machine verify "../Exhibit A"
	[[ $stderr == *'"Exhibit A" is not an instance id'* ]]
}

# decides CLAUSE...: a branch of these lines in ../flow.
decides() {
	ends
	{
		sed '/^states/,$d' ../flow/machine.yaml
		printf '%s\n' 'vars: {operator: {n: {type: str, value: ""}}}' 'states:' '  look:' '    kind: branch' '    when:'
		printf '      %s\n' "$@"
		echo '  done: {kind: terminal, status: ok, reason: went}'
	} >said
	mv said ../flow/machine.yaml
	agent6 machine check ../flow
}

@test "an else with a map behind it is one mistake, and is told how it is written" {
	run -2 --separate-stderr decides '- {if: n == "a", goto: done}' '- else: {goto: done}'
	echo "$stderr"
	[[ $stderr == *'write `else: true, goto: done`'* ]]
	[ "$(grep -c 'error\[' <<<"$stderr")" -eq 1 ]
}

@test "a condition that ends in a comment of YAML is told so" {
	run -2 --separate-stderr decides '- if: n == "a # b"' '  goto: done' '- {else: true, goto: done}'
	echo "$stderr"
	[[ $stderr == *'this string is never closed'*'help: in YAML a comment begins at " #": put the whole condition in quotes'* ]]
	run -2 --separate-stderr decides '- if: n == "a' '  goto: done' '- {else: true, goto: done}'
	[[ $stderr == *'this string is never closed'* && $stderr != *comment* ]]
}

@test "a directory that holds a loose bundle is told its name" {
	ends
	mkdir ../team
	mv ../flow/machine.yaml ../team/flow.asm.yaml
	run -2 --separate-stderr agent6 machine check ../team
	echo "$stderr"
	[[ $stderr == *"name it: ../team/flow.asm.yaml"* ]]
	eval "agent6 machine check ${stderr##*name it: }"
}

@test "what only an operator may choose of a setting is told who may" {
	ends
	echo 'config: {agent: {summarise: model}}' >>../flow/machine.yaml
	run -2 --separate-stderr agent6 machine check ../flow
	echo "$stderr"
	[[ $stderr == *'the operator'* ]]
}

@test "a template where a path belongs is told that it is none" {
	ends
	sed -i 's/look: .*/look: {kind: tool, command: [ls], reads: ["{{ p }}", p], timeout_secs: 5, on: {ok: done, nonzero: done, timeout: done}}/' ../flow/machine.yaml
	run -2 --separate-stderr agent6 machine check ../flow
	echo "$stderr"
	[[ $stderr == *'`{{ p }}` is not an absolute path'*'it is taken as it stands here: no template is filled in'*'`p` is not'* ]]
}

@test "a packed bundle has a name that other commands open" {
	ends
	run -2 --separate-stderr agent6 machine pack ../flow -o flow.zip
	echo "$stderr"
	[[ $stderr == *"must end in .asm"*"-o flow.asm"* && ! -e flow.zip ]]
	eval "agent6 machine pack ../flow ${stderr##*: }"
	agent6 machine check flow.asm
}

@test "a script named without its folder, and a variable as a shell has it, are told so" {
	ends
	mkdir ../flow/scripts
	printf '#!/bin/sh\n' >../flow/scripts/count.sh
	chmod +x ../flow/scripts/count.sh
	sed -i 's/look: .*/look: {kind: tool, command: [count.sh, "$page"], timeout_secs: 5, on: {ok: done, nonzero: done, timeout: done}}/' ../flow/machine.yaml
	echo 'vars: {operator: {page: {type: str, value: README.md}}}' >>../flow/machine.yaml
	run -0 --separate-stderr agent6 machine check ../flow
	echo "$stderr"
	[[ $stderr == *'no "count.sh" on'*'help: write `scripts/count.sh`'* ]]
	[[ $stderr == *'`$page` is plain text here, no reference'*'help: write {{ page }}'* && $stderr != *unused-variable* ]]
	sed -i 's/"$page"/"-a", "$pages"/' ../flow/machine.yaml
	run -0 --separate-stderr agent6 machine check ../flow
	[[ $stderr != *plain-reference* ]]
}

@test "a capture that forgets the result is told where the field is" {
	ends
	sed -i 's/look: .*/look: {kind: tool, command: [ls], output_schema: tally, capture: {set: {n: "{{ count }}"}}, timeout_secs: 5, on: {ok: done, nonzero: done, timeout: done}}/' ../flow/machine.yaml
	printf '%s\n' 'vars: {code: {n: {type: int, default: 0}}}' 'schemas: {tally: {count: int}}' >>../flow/machine.yaml
	run -2 --separate-stderr agent6 machine check ../flow
	echo "$stderr"
	[[ $stderr == *'no variable "count" is declared'*'help: did you mean "result.count"?'* ]]
}

@test "an instance that nobody runs says what stop, approve, status and verify leave to be done" {
	ends
	agent6 machine run ../flow --exit-on-wait --quiet
	run -2 --separate-stderr agent6 machine stop flow
	[[ $stderr == *"instance flow is not running: there is nothing to stop; \`agent6 machine prune flow --unfinished\` removes it"* ]]
	run -2 --separate-stderr agent6 machine approve flow
	[[ $stderr == *"instance flow is not running, so it asks nothing; \`agent6 machine status flow\` shows where it stands"* ]]
	run -0 --separate-stderr agent6 machine status flow
	[[ $output == *"waits       to be poked: agent6 machine poke flow"* ]]
	eval "$(sed -n "s,.*to be poked: ,,p" <<<"$output")" 2>said
	sed -i '1s/"flow"/"flaw"/' "$SCRATCH"/state/*/machines/flow/journal.jsonl
	run -5 --separate-stderr agent6 machine verify flow
	echo "$stderr"
	[[ $stderr == *"line 1: "*"; bring the file back from a copy, or begin again under another --id" ]]
}
