# The shared part of tests of machines that write code: setup, a repository, a machine and its rehearsal.

setup() {
	need jq git
	live_setup
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	WS=$SCRATCH/dir/workspace
}

teardown() {
	! mountpoint -q "$SCRATCH/dir" || umount "$SCRATCH/dir"
}

# repository [DIR]: a committed file, and one that the operator has changed since
repository() {
	local dir=${1-$WS}
	committed "$dir"
	echo "not committed" >>"$dir/file"
}

# coder NAME STATES: a machine whose state `edit` runs; the cassette is read from stdin
coder() {
	local head="initial: ${3-edit}
budget: {max_transitions: 20, max_usd: 5.0}
config: {workflow: {verify_command: [cat, file]}}"
	mkdir -p "$SCRATCH/$1/rehearsal"
	cat >"$SCRATCH/$1/rehearsal/a.jsonl"
	coding_machine "$1" "$head" after undone <<END
$2
  undone: {kind: tool, command: [sh, -c, 'test "\$(cat file)" = one && test ! -e new'], timeout_secs: 20, on: {ok: bad, nonzero: worse, timeout: worse}}
  worse: {kind: terminal, status: failed, reason: worse}
END
}

CHECK="  after: {kind: tool, command: [sh, -c, 'grep -x two file && cat new && ! grep not file'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}"
EDITS='{"state":"edit","match":{"turn":0,"tools":["apply_edit","run_verify_command"]},"reply":{"tool_calls":[{"name":"apply_edit","arguments":{"path":"file","edits":[{"kind":"replace","old_string":"one","new_string":"two"}]}},{"name":"apply_edit","arguments":{"path":"new","edits":[{"kind":"create","new_string":"created\n"}]}}]}}'
FINISH='{"state":"edit","match":{"last":"created"},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"done"}}]}}'

rehearse() { # NAME [OPTION...]
	local name=$1
	shift
	agent6 machine rehearse --dir "$SCRATCH/dir" "$@" "$SCRATCH/$name"
}

# Prints the operator's state: HEAD, the index, the branch that is checked out, the files.
operator() { # DIR
	(cd "$1" && sha256sum .git/HEAD .git/index .git/refs/heads/main && find . -path ./.git -prune -o -type f -exec sha256sum {} + &&
		find . -path ./.git -prune -o -printf '%p %m %T@\n' | sort)
}

tip() { # NAME
	git -C "$WS" rev-parse -q --verify "refs/heads/agent6/machine-$1"
}
