# Output on a terminal fits its width, and says the same as elsewhere.
load ../kit/common
load flow

setup() {
	need script
	flow_setup <<-'END'
		machine: flow
		version: 1
		description: Asks a person whether what a command did may stay, and keeps what was said of it.
		initial: work
		budget: {max_transitions: 20}
		schemas:
		  answer: {keep: {type: bool, optional: true}, comment: {type: str, optional: true}}
		vars:
		  operator:
		    program: {type: str, value: a_program_that_is_on_no_path_at_all}
		  code:
		    answer: {type: answer, default: {}}
		states:
		  work:
		    kind: tool
		    command: ["{{ program }}"]
		    timeout_secs: 5
		    on: {ok: ask, nonzero: ask, timeout: ask}
		  ask: {kind: wait, notify: "Shall {{ program }} stay as it is? Say so: agent6 machine poke flow --message yes", on: {signal: hear}}
		  hear:
		    kind: tool
		    command: [cat, "/nowhere/a/name/that/does/not/fit/behind/the/rest.json"]
		    timeout_secs: 5
		    output_schema: answer
		    capture: {set: {answer: "{{ result }}"}}
		    on: {ok: decide, nonzero: decide, timeout: decide}
		  decide:
		    kind: branch
		    when:
		      - {if: answer.keep, goto: done}
		      - {else: true, goto: undone}
		  done: {kind: terminal, status: ok, reason: kept}
		  undone: {kind: terminal, status: failed, reason: "what {{ program }} did was not kept, because of what was said of it"}
	END
}

# at COLUMNS ARGS...: what a terminal that wide is shown, without colours, in $shown.
at() {
	local columns=$1
	shift
	shown=$(TERM=dumb script -qec "stty cols $columns; '$AGENT6_BIN/agent6' $*" /dev/null </dev/null | tr -d '\r')
}

# fits COLUMNS ARGS...: no line is wider, and the words are those of a pipe.
fits() {
	at "$@"
	echo "$shown"
	awk -v most="$1" 'length > most { print "too wide: " $0; bad = 1 } END { exit bad }' <<<"$shown"
	[ "$(words "$shown")" = "$(words "$(eval agent6 "${*:2}" 2>&1)")" ]
}

# Counts excerpts once: they are laid out anew in other widths.
words() {
	grep -v '^ *[0-9]* |\|^ *|' <<<"$1" | tr -s ' \n' ' '
}

@test "findings: 80 and 60 columns, each line with its caret below" {
	fits 80 machine check ../flow
	[[ $shown == *"maybe-unset"* ]]
	sed -i 's/timeout_secs: 5/timeout: 5/; s/goto: done/goto: dnoe/' ../flow/machine.yaml
	fits 80 machine check ../flow
	[[ $shown == *"help: did you mean"* ]]
	fits 60 machine check ../flow
}

@test "what is said once, and elsewhere stays one line" {
	fits 80 machine run ../flow --set program
	fits 80 machine run ../flow --id "'Not an id'"
	fits 80 machine run ../flow --digest sha256:0
	fits 80 machine status flow
	fits 80 config get sandbox.profle
	fits 80 audit --type nothing
	fits 80 machine inspect ../flow
	fits 80 machine pack ../flow
	[ "$(agent6 machine run ../flow --digest sha256:0 2>&1 >/dev/null | wc -l)" -eq 1 ]
}

@test "a dry run, a run and what is asked of it afterwards" {
	fits 80 machine test ../flow
	at 80 machine run ../flow --exit-on-wait
	awk 'length > 80 { exit 1 }' <<<"$shown"
	[[ $shown == *$'\n       exit 127  agent6-jail: cannot run'*"info: Shall"*"waiting  (1 step)"* ]]
	at 80 machine status flow
	echo "$shown"
	awk 'length > 80 { exit 1 }' <<<"$shown"
	[[ $shown == *"says        Shall a_program"*"updated "*" UTC, "*"sha256:"* ]]
	agent6 machine poke flow
	run agent6 machine run ../flow
	[ "$status" -eq 1 ]
	fits 80 machine replay flow
	fits 80 machine run ../flow
	[[ $shown == *"had ended before: failed"*"Run it again: "*"agent6 machine prune flow"* ]]
}

@test "what is laid out for a page of 80 columns is narrower where the terminal is" {
	narrow() { # PATTERN: what is shown has it, and no line is too wide that could be broken
		echo "$shown"
		[[ $shown == *$1* ]]
		awk 'length > 50 && !/sha256:|nowhere|a_program|\/[^ ]*\/[^ ]*\// { print "too wide: " $0; bad = 1 } END { exit bad }' <<<"$shown"
	}
	sed -i '/^  ask:/s/on: {/every_secs: 1, on: {tick: hear, /' ../flow/machine.yaml
	at 50 machine check --report ../flow
	narrow $'\n  limits       memory_mb=2048, *\nEvery tool '
	at 50 machine rehearse ../flow
	shown=$(sed -n '/^outcome/,$p' <<<"$shown")
	narrow $'\npath          work -> *\nstates\n  work            tool         1x  *\n                  *\n              tools: '
	at 50 --help
	narrow $'\n  machine check      say all that is wrong with a\n                     bundle'
	at 50 machine run --help
	narrow $'\n  --id ID                    name the instance\n'
	mkdir ../flow/scripts && printf %20s >../flow/scripts/helper.mk
	at 50 machine inspect ../flow
	narrow '  scripts/helper.mk'
	at 50 check config
	narrow $'\nno provider is configured: agent states cannot\n  run'
	at 50 config show
	narrow $'\nsandbox.tool_network          "block" default\nsandbox.allow_urls '
	at 50 jail --explain
	narrow $'\n/proc                    its own processes,\n                         read-only\n'
	fits 80 config show
	fits 80 jail --explain
	at 50 check sandbox
	narrow $'\n  held     write a file outside the workspace\n           No such file or directory\n'
}

@test "list is as wide as what it lists; a description is cut at the edge" {
	agent6 machine run ../flow --exit-on-wait --quiet
	at 80 machine list
	echo "$shown"
	awk 'length > 80 { exit 1 }' <<<"$shown"
	[[ $shown == *"UTC  Asks a person"*"..." ]]
	run agent6 machine list
	[[ $output == *"what was said of it." ]]
}

@test "a misspelt instance" {
	agent6 machine run ../flow --exit-on-wait --quiet
	for verb in status replay stop poke; do
		run --separate-stderr agent6 machine $verb flwo
		[[ $status -eq 2 && $stderr == *"there is no instance flwo here; did you mean flow?" ]]
	done
}

@test "colours mark what is wrong, unless NO_COLOR or a pipe" {
	sed -i 's/goto: done/goto: dnoe/' ../flow/machine.yaml
	shown=$(TERM=xterm script -qc "'$AGENT6_BIN/agent6' machine check ../flow" /dev/null </dev/null)
	[[ $shown == *$'\e[1;31merror[unknown-state]\e[0m: there is no'*$'\e[1;31m^^^^\e[0m'* ]]
	shown=$(NO_COLOR=1 TERM=xterm script -qc "'$AGENT6_BIN/agent6' machine check ../flow" /dev/null </dev/null)
	[[ $shown == *"error[unknown-state]: there is no"* ]]
	run ! grep -q $'\e' <<<"$shown"
	run agent6 machine check ../flow
	run ! grep -q $'\e' <<<"$output"
}

@test "the first Ctrl-C says what it does, and what a second one would" {
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: work
		budget: {max_transitions: 20}
		states:
		  done: {kind: terminal, status: ok, reason: finished}
		  work:
		    kind: tool
		    command: [sh, -c, 'cd "$AGENT6_MACHINE_DATA_DIR"; touch on; until [ -e go ]; do sleep 0.05; done']
		    timeout_secs: 60
		    on: {ok: done, nonzero: done, timeout: done}
	END
	"$AGENT6_BIN/agent6" machine run ../flow 2>said 3>&- &
	pid=$!
	begun() { find "$SCRATCH/state" -name on | grep .; }
	eventually begun
	kill -INT "$pid"
	eventually test -s said
	touch "$(echo "$SCRATCH"/state/*/machines/flow/data)/go"
	code=0
	wait "$pid" || code=$?
	[ "$code" -eq 130 ]
	cat said
	grep -qx 'agent6: stopping as soon as state work has ended; once more kills it now' said
}
