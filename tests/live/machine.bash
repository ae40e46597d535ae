# A machine from stdin in $SCRATCH/NAME, a workspace in $SCRATCH/ws, its state in $SCRATCH/state.

live_setup() {
	mkdir -p "$SCRATCH/ws" "$SCRATCH/config"
	export AGENT6_STATE_HOME=$SCRATCH/state XDG_CONFIG_HOME=$SCRATCH/config
	cd "$SCRATCH/ws" || return 1
}

# machine_file NAME <YAML: everything behind `version`
machine_file() {
	mkdir -p "$SCRATCH/$1"
	{
		printf 'machine: %s\nversion: 1\n' "$1"
		cat
	} >"$SCRATCH/$1/machine.yaml"
}

# tool_machine NAME ARGV: one tool state, then ok or failed by its outcome
tool_machine() {
	machine_file "$1" <<END
initial: work
budget: {max_transitions: 9}
states:
  work:
    kind: tool
    command: $2
    timeout_secs: ${3-20}
    on: {ok: good, nonzero: bad, timeout: late}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
  late: {kind: terminal, status: failed, reason: late}
END
}

# coding_machine NAME HEAD OK FAILED <MORE STATES: an agent state `edit` writes code, then OK or FAILED
coding_machine() {
	machine_file "$1" <<END
schemas: {note: {text: str}}
vars: {agent: {note: {type: note, default: {text: ""}}}}
$2
states:
  edit:
    kind: agent
    mode: run
    prompt: Edit it.
    output_schema: note
    capture: {finish_json: note}
    timeout_secs: 60
    on: {ok: $3, failed: $4, budget_exhausted: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: "{{ note.text }}"}
  bad: {kind: terminal, status: failed, reason: bad}
$(cat)
END
}

# committed DIR: a repository there, with the file `file`
committed() {
	mkdir -p "$1"
	git -C "$1" init -q -b main
	echo one >"$1/file"
	git -C "$1" add file
	git -C "$1" -c user.name=op -c user.email=op@host commit -qm first
}

# two_tools NAME ARGV SECS: a command that fails, then one that makes the file `ran`
two_tools() {
	machine_file "$1" <<END
initial: work
budget: {max_transitions: 9}
states:
  work: {kind: tool, command: $2, timeout_secs: $3, on: {ok: good, nonzero: next, timeout: good}}
  next: {kind: tool, command: [touch, ran], timeout_secs: 20, on: {ok: good, nonzero: good, timeout: good}}
  good: {kind: terminal, status: ok, reason: good}
END
}

# An instance that waits to be poked and then ends ok.
parked() { # [NAME]
	local name=${1-parked}
	machine_file "$name" <<'END'
initial: park
budget: {max_transitions: 9}
states:
  park: {kind: wait, on: {signal: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	go "$name" --exit-on-wait
}

go() { # NAME [OPTION...]
	local name=$1
	shift
	agent6 machine run --quiet "$@" "$SCRATCH/$name"
}

journal() { # NAME: the whole lines, without the padding of a live or killed writer
	grep -a '"}$' "$SCRATCH"/state/*/machines/"$1"/journal.jsonl
}

fact() { # NAME FILTER: of the first step
	journal "$1" | jq -r "select(.t == \"step\") | .fact | $2" | head -n 1
}

instance() { # NAME
	echo "$SCRATCH"/state/*/machines/"$1"
}

# Waits until the children of a killed run have noticed its end: they hold the instance until then.
let_go() { # DIR: of the instance
	[[ ! -d $1 ]] || eventually flock --nonblock "$1" true
}

# SIGTERM to a process and all below it, the eldest first: what the end of a session or service does.
terminate_all() { # PID
	local all=("$1") at
	for ((at = 0; at < ${#all[@]}; at++)); do
		mapfile -t -O "${#all[@]}" all < <(pgrep -P "${all[at]}")
	done
	kill -TERM "${all[@]}"
}

journal_has() { # NAME TEXT
	journal "$1" | grep -qF "$2"
}
