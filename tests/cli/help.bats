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
}

@test "every verb explains itself" {
	verbs=$(agent6 --help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p')
	[ "$(wc -l <<<"$verbs")" -ge 10 ]
	while read -r verb; do
		# shellcheck disable=SC2086
		run --separate-stderr agent6 $verb --help
		[ "$status" -eq 0 ]
		[[ ${lines[0]} == "usage: agent6 $verb"* ]]
		[[ $output == *--help* ]]
	done <<<"$verbs"
}

@test "a group lists its verbs" {
	run --separate-stderr agent6 machine --help
	[ "$status" -eq 0 ]
	[[ $output == *"machine status"* ]]
	run --separate-stderr agent6 machine
	[ "$status" -eq 2 ]
	[[ $stderr == *"needs a command behind it"* ]]
}

@test "no arguments: the overview on stderr, refused" {
	run --separate-stderr agent6
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == *"usage: agent6"* ]]
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
	run --separate-stderr agent6 machine check -s x
	[ "$status" -eq 2 ]
	[[ $stderr == *"two dashes"* ]]
}

@test "-- ends options" {
	cd "$SCRATCH"
	run --separate-stderr agent6 machine check -- --strict
	[ "$status" -eq 2 ]
	[[ $stderr == *"cannot open --strict"* ]]
}
