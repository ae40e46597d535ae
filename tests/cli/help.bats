# The table of verbs: help, unknown words, options.
load ../kit/common

@test "--version and --help" {
	run --separate-stderr agent6 --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^agent6\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	run --separate-stderr agent6 --help
	[ "$status" -eq 0 ]
	[[ $output == *"machine check"*"machine run"* ]]
	[ -z "$stderr" ]
	[ "$(agent6 -h)" = "$output" ]
	[ "$(agent6 machine -h)" = "$(agent6 machine --help)" ]
	[ "$(agent6 machine run -h)" = "$(agent6 machine run --help)" ]
	run -2 --separate-stderr agent6 machine run flow -h
	[[ $stderr == *"two dashes"* ]]
}

@test "every verb explains itself, in 80 columns" {
	run ! grep '.\{81\}' <(agent6 --help)
	verbs=$(agent6 --help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p')
	[ "$(wc -l <<<"$verbs")" -ge 10 ]
	while read -r verb; do
		# shellcheck disable=SC2086
		run --separate-stderr agent6 $verb --help
		[ "$status" -eq 0 ]
		[[ ${lines[0]} == "usage: agent6 $verb"* ]]
		[[ $output == *--help* ]]
		run ! grep '.\{81\}' <<<"$output"
	done <<<"$verbs"
}

@test "the overview is in parts, each with a head" {
	run agent6 --help
	[[ $output == *$'\n\nWrite a machine\n  machine new '*$'\n\nRun it\n  machine run '*$'\n\nThis host\n  check sandbox '* ]]
	run agent6 config --help
	[[ $output == *$'\n\nSettings\n  config show '* ]]
}

@test "a group lists its verbs" {
	run --separate-stderr agent6 machine --help
	[ "$status" -eq 0 ]
	[[ $output == *"machine status"* ]]
	run --separate-stderr agent6 machine
	[ "$status" -eq 2 ]
	[[ $stderr == *"needs a command after it"* ]]
}

@test "no arguments: the overview on stderr, refused" {
	run --separate-stderr agent6
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == *"usage: agent6"* ]]
}

@test "two words in one are told apart" {
	run --separate-stderr -2 agent6 manual "machine run"
	[[ $stderr == *"'machine run' is one word here: leave out the quotes round it"* ]]
	run --separate-stderr -2 agent6 "machine run" flow
	[[ $stderr == *"leave out the quotes"* && $stderr != *"did you mean"* ]]
}

@test "misspelt words are answered with the nearest" {
	run --separate-stderr agent6 machine rehaerse x
	[ "$status" -eq 2 ]
	[[ $stderr == *"did you mean 'agent6 machine rehearse'?"* ]]
	run --separate-stderr agent6 machine check --stric x
	[ "$status" -eq 2 ]
	[[ $stderr == *"did you mean --strict?"* ]]
	run --separate-stderr agent6 frobnicate
	[ "$status" -eq 2 ]
	[[ $stderr == *"there is no command 'frobnicate'"* ]]
	run --separate-stderr agent6 graph ./flow
	[[ $stderr == "agent6: there is no command 'graph'; did you mean 'agent6 machine graph'?" ]]
	run --separate-stderr agent6 machine run ./flow --var a=b
	[[ $stderr == *"has no option --var; did you mean --set?" ]]
	run --separate-stderr agent6 machine run "--$(printf 'x%.0s' {1..78})é"
	[[ $stderr == *"has no option --$(printf 'x%.0s' {1..78}); "* ]]
	local many
	mapfile -t many < <(printf -- '--set=a=%d\n' {0..256})
	run --separate-stderr -2 agent6 machine run ./flow "${many[@]}"
	[[ $stderr == *"more than 256 options; a file for --params holds any number" ]]
	run --separate-stderr -2 agent6 jail "${many[@]/#--set=a=*/--read=/}" -- true
	[[ $stderr == *"more than 256 options" ]]
	run --separate-stderr agent6 machine zzz
	[[ $stderr == *"there is no command 'machine zzz'; \`agent6 machine --help\` lists them" ]]
	run --separate-stderr agent6 config providers
	[[ $stderr == *"there is no command 'config providers'; \`agent6 config --help\` lists them" ]]
	local row
	for row in check config; do
		run --separate-stderr agent6 $row
		[ "$status" -eq 2 ]
		[[ $stderr == *"'$row' needs a command after it"* ]]
	done
	for row in "check sandbx|check sandbox" "run flow|machine run" "check flow|machine check" "show|config show" "status x|machine status" "machine logs|machine report" \
		"machine ls|machine list" "machine resume|machine run" "validate x|machine check" "rehaerse x|machine rehearse"; do
		# shellcheck disable=SC2086
		run --separate-stderr agent6 ${row%|*}
		echo "$stderr"
		[ "$status" -eq 2 ]
		[[ $stderr == *"did you mean 'agent6 ${row#*|}'?"* ]]
	done
}

@test "options: choices, values, repetition, counts" {
	run --separate-stderr agent6 machine check --format xml x
	[ "$status" -eq 2 ]
	[[ $stderr == *"--format takes text|json"*"not 'xml'"* ]]
	run --separate-stderr agent6 machine run --id
	[ "$status" -eq 2 ]
	[[ $stderr == *"--id needs a value"* ]]
	run --separate-stderr agent6 machine run --id a --id b x
	[ "$status" -eq 2 ]
	[[ $stderr == *"only once"* ]]
	run --separate-stderr agent6 machine run --json=yes x
	[ "$status" -eq 2 ]
	[[ $stderr == *"--json takes no value"* ]]
	run --separate-stderr agent6 machine run
	[ "$status" -eq 2 ]
	[[ $stderr == *"needs BUNDLE"* ]]
	run --separate-stderr agent6 machine run a b
	[ "$status" -eq 2 ]
	[[ $stderr == *"does not take the argument 'b'"* ]]
	run --separate-stderr agent6 machine poke id hello
	[ "$status" -eq 2 ]
	[[ $stderr == *"'hello'"*"--message TEXT"* ]]
	run --separate-stderr agent6 machine check -s x
	[ "$status" -eq 2 ]
	[[ $stderr == *"two dashes"* ]]
}

@test "a value that is empty is none: an unset variable switches nothing off" {
	local option
	for option in --config --digest --allowed-signers --record --params --id; do
		run -2 --separate-stderr agent6 machine run hello "$option" ''
		[[ $stderr == "agent6: $option "*": the value is empty" ]]
	done
	run -2 --separate-stderr agent6 check redact --as=
	[[ $stderr == "agent6: --as takes command|file, not ''" ]]
}

@test "-- ends options" {
	cd "$SCRATCH"
	run --separate-stderr agent6 machine check -- --strict
	[ "$status" -eq 2 ]
	[[ $stderr == *"cannot open --strict"* ]]
}

@test "manual pages: one per verb and an overview, without a complaint from man" {
	need man
	mkdir "$SCRATCH/man"
	agent6 manual --output "$SCRATCH/man"
	[ "$(find "$SCRATCH/man" -name '*.1' | wc -l)" -ge 15 ]
	for page in "$SCRATCH"/man/*.1; do
		run --separate-stderr env MANROFFSEQ= LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page"
		[ -z "$stderr" ]
	done
	run ! grep -nE '[[:blank:]]$' "$SCRATCH"/man/*.1
	[ -z "$(grep -LE '^\.TH [A-Z0-9-]+ 1 "[0-9]{4}-[0-9]{2}-[0-9]{2}" ' "$SCRATCH"/man/*.1)" ]
	run agent6 manual
	[[ $output == *".SH EXIT STATUS"*".SH ENVIRONMENT"*AGENT6_ALLOW_ROOT*".SH FILES"*config.yaml* ]]
	run agent6 manual machine run
	[[ $output == *"AGENT6-MACHINE-RUN"*"allow"* ]]
	run --separate-stderr agent6 manual machine runn
	[ "$status" -eq 2 ]
}

@test "bash completes verbs, options and choices" {
	agent6 completions bash >"$SCRATCH/completion"
	# shellcheck disable=SC1091
	source "$SCRATCH/completion"
	complete_words() {
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_agent6
		echo "${COMPREPLY[*]}"
	}
	[ "$(complete_words agent6 mach)" = machine ]
	[ "$(complete_words agent6 machine reh)" = rehearse ]
	[ "$(complete_words agent6 machine check --str)" = --strict ]
	[ "$(complete_words agent6 machine check --format sa)" = sarif ]
	[ "$(complete_words agent6 jail --network h)" = host ]
	[ "$(complete_words agent6 jail --read / --network h)" = host ]
	some_instances
	[ "$(complete_words agent6 machine status o)" = "one other" ]
	[ "$(complete_words agent6 machine status --json ot)" = other ]
	[ "$(complete_words agent6 machine prune one o)" = "one other" ]
	[ "$(complete_words agent6 machine status fl)" = "" ]
	[ "$(complete_words agent6 machine status --js)" = --json ]
	[ "$(complete_words agent6 machine replay one --with fl)" = flow.asm.yaml ]
	[ "$(complete_words agent6 machine report one -o fl)" = flow.asm.yaml ]
	[ "$(complete_words agent6 machine run --id ot)" = other ]
	[ "$(complete_words agent6 machine run fl)" = flow.asm.yaml ]
	[ "$(complete_words agent6 config get sandbox.prof)" = sandbox.profile ]
	named_models
	[ "$(complete_words agent6 config get providers.p.prices.)" = providers.p.prices.org/plain-1.5 ]
	[ ! -e ran ]
	[ "$(complete_words agent6 completions z)" = zsh ]
	[[ $(complete_words agent6 machine new x --from '') == "agent "*review* ]]
	[ "$(complete_words agent6 machine new x --from ./fl)" = ./flow.asm.yaml ]
}

# Prices of two models, of which one has a name that a shell would run.
named_models() {
	export XDG_CONFIG_HOME=$SCRATCH/config
	mkdir -p "$XDG_CONFIG_HOME/agent6"
	cat >"$XDG_CONFIG_HOME/agent6/config.yaml" <<-'END'
		providers:
		  p:
		    api_format: openai
		    base_url: http://127.0.0.1:9/
		    prices:
		      org/plain-1.5: {input: 1, output: 1}
		      '$(touch${IFS}ran)': {input: 1, output: 1}
	END
}

# The instances `one` and `other` of flow.asm.yaml, in the directory that is entered.
some_instances() {
	export AGENT6_STATE_HOME=$SCRATCH/state
	mkdir "$SCRATCH/place" && cd "$SCRATCH/place" || return
	cat >flow.asm.yaml <<-END
		machine: flow
		version: 1
		initial: done
		budget: {max_transitions: 1}
		states:
		  done: {kind: terminal, status: ok, reason: x}
	END
	agent6 machine run flow.asm.yaml --id one --quiet
	agent6 machine run flow.asm.yaml --id other --quiet
}

@test "zsh completes instances, and files where files go" {
	need zsh
	some_instances
	agent6 completions zsh >"$SCRATCH/_agent6"
	completed() { # WORDS: what is offered for the last of them
		PATH=$AGENT6_BIN:$PATH zsh -fc 'compadd() { shift; print -r -- $*; }; _files() { print files; }
			compdef() { $1; }
			words=("$@"); CURRENT=$#words; set --; . "$0"' "$SCRATCH/_agent6" "$@"
	}
	[ "$(completed agent6 machine status '')" = "one other" ]
	[ "$(completed agent6 machine replay one --with '')" = files ]
	[[ $(completed agent6 machine status --) == *--json* ]]
	[ "$(completed agent6 machine run '')" = files ]
	named_models
	[[ $(completed agent6 config get '') == *prices.org/plain-1.5*sandbox.profile* && ! -e ran ]]
	[[ $(completed agent6 machine new x --from '') == "agent "* ]]
	[ "$(completed agent6 machine new x --from ./)" = files ]
}

@test "zsh and fish read their completions" {
	for shell in zsh fish; do
		agent6 completions $shell >"$SCRATCH/$shell"
		grep -q rehearse "$SCRATCH/$shell"
	done
	run --separate-stderr agent6 completions tcsh
	[ "$status" -eq 2 ]
	need zsh fish
	zsh -n "$SCRATCH/zsh"
	fish -n "$SCRATCH/fish"
}

@test "fish completes by the words that stand there, and files where files go" {
	need fish
	cd "$SCRATCH"
	mkdir home && touch flow.asm
	agent6 completions fish >fish
	completed() { # LINE: the words that are offered
		PATH=$AGENT6_BIN:$PATH HOME=$SCRATCH/home fish --no-config -c "source $SCRATCH/fish; complete -C '$1'" | cut -f1 | tr '\n' ' '
	}
	[ "$(completed 'agent6 machine reh')" = "rehearse " ]
	[[ $(completed 'agent6 check ') == *sandbox* ]]
	[ "$(completed 'agent6 machine check fl')" = "flow.asm " ]
	[ "$(completed 'agent6 check sandbox --')" = "--help --inside --install-apparmor --json --offline " ]
	[ "$(completed 'agent6 machine check --format s')" = "sarif " ]
	[ "$(completed 'agent6 jail --network h')" = "host " ]
	[ "$(completed 'agent6 check --')" = "--help " ]
	some_instances
	[ "$(completed 'agent6 machine status o')" = "one other " ]
	[ "$(completed 'agent6 machine run --id ot')" = "other " ]
	[ "$(completed 'agent6 machine replay one --with fl')" = "flow.asm.yaml " ]
	named_models
	[ "$(completed 'agent6 config get providers.p.prices.')" = "providers.p.prices.org/plain-1.5 " ]
	[ "$(completed 'agent6 completions z')" = "zsh " ]
	[ "$(completed 'agent6 machine new x --from re')" = "review " ]
}

@test "agent6-agent and agent6-cassette say what they take" {
	run -0 --separate-stderr "$AGENT6_BIN/agent6-cassette" --help
	for option in cassette ready-fd report-fd positions help; do
		[[ $output == *"  --$option "* ]]
	done
	run -2 --separate-stderr "$AGENT6_BIN/agent6-cassette" --casette x
	[[ -z $output && $stderr == *"agent6-cassette --help lists the options"* ]]
	run -0 --separate-stderr "$AGENT6_BIN/agent6-agent" --help </dev/null
	[[ $output == "usage: agent6-agent"* && -z $stderr ]]
	for name in agent cassette; do
		run ! grep '.\{81\}' <("$AGENT6_BIN/agent6-$name" --help </dev/null)
		run ! bash -c "exec '$AGENT6_BIN/agent6-$name' --help </dev/null >/dev/full"
	done
	run -2 --separate-stderr "$AGENT6_BIN/agent6-agent" --order x </dev/null
	[[ -z $output && $stderr == "usage: agent6-agent"* ]]
}

@test "help may be asked for in front, too, and the version by its usual letter" {
	run -0 --separate-stderr agent6 help
	[[ $output == "$(agent6 --help)" ]]
	run -0 --separate-stderr agent6 help machine
	[[ $output == "$(agent6 machine --help)" ]]
	run -0 --separate-stderr agent6 machine help
	[[ $output == "$(agent6 machine --help)" ]]
	local words
	for words in "help machine run" "machine help run" "help machine run --json"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr agent6 $words
		[[ $output == "$(agent6 machine run --help)" ]]
	done
	run -2 --separate-stderr agent6 help machine rnu
	[[ $stderr == *"did you mean 'agent6 machine run'?" ]]
	run -0 --separate-stderr agent6 check command help # is a command to look at
	[[ $output == *'"level"'* ]]
	for words in -V --version version; do
		[[ $(agent6 "$words") == "agent6 "[0-9]* ]]
	done
}

@test "commands of the first agent6 are answered with their successors" {
	local row
	while IFS='|' read -r row answer; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr agent6 $row
		echo "$row: $stderr"
		[[ $stderr == "agent6: there is no command '${row%% *}'; "*"$answer"* ]]
	done <<-'END'
		run add-a-flag|did you mean 'agent6 machine run'? A task in words
		run --yes x|agent6 machine new NAME --from agent
		plan new x|agent6 machine new NAME --from agent
		plan show|agent6 machine run
		review --base origin/main --head HEAD|agent6 machine new NAME --from review
		resume x|did you mean 'agent6 machine run'? The command that
		watch|did you mean 'agent6 machine watch'?
		init|did you mean 'agent6 machine new'?
		check-config|did you mean 'agent6 check config'?
		check-sandbox --fix|did you mean 'agent6 check sandbox'?
		history search x|did you mean 'agent6 machine replay'?
		memory|machine's prompts
	END
	run -2 --separate-stderr agent6 machine rn ./flow
	[[ $stderr == "agent6: there is no command 'machine rn'; did you mean 'agent6 machine run'?" ]]
}
