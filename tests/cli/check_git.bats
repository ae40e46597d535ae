# check git: our calls against a poisoned repository, with the git that is installed.
load ../kit/common

@test "nothing a repository planted is executed, and plain git shows that it would be" {
	need git
	export TMPDIR=$SCRATCH
	run --separate-stderr agent6 check git
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output =~ ^[0-9]+\ settings\ and\ hooks\ planted\;\ plain\ git\ executed\ [1-9] ]]
	[[ $output == *"fsmonitor"*"ours none" ]]
	[ -z "$(ls -A "$SCRATCH")" ]
}

@test "--json: what was planted and what ran" {
	need git jq
	agent6 check git --json | jq -e '.proved and .planted > 20 and .ours == [] and (.plain_git | index("fsmonitor"))'
}

@test "the same for an ordinary user" {
	need git
	give_user "$SCRATCH"
	run --separate-stderr as_user "$AGENT6_BIN/agent6" check git
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
}
