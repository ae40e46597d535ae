# What a person sees on a terminal: tmux at 80 and 200 columns, resized, dumb, without colour.
load ../kit/common

setup() {
	need tmux
	cd "$SCRATCH" || return
	export AGENT6_STATE_HOME=$SCRATCH/state HOME=$SCRATCH
	mkdir flow work
	cat >flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: a_state_with_a_rather_long_name_that_goes_on
		budget: {max_transitions: 20}
		vars: {}
		states:
		  a_state_with_a_rather_long_name_that_goes_on:
		    kind: wait
		    on: {signal: done}
		  done: {kind: terminal, status: ok, reason: finished}
	END
	cd work || return
}

teardown() {
	tmux -S "$SCRATCH/tmux" kill-server 2>/dev/null || true
}

# screen COLUMNS [ENV...]: starts the run in a terminal that wide.
screen() {
	local columns=$1
	shift
	tmux -S "$SCRATCH/tmux" -f /dev/null new-session -d -x "$columns" -y 24 \
		"env $* '$AGENT6_BIN/agent6' machine run ../flow; echo exit \$?; cat"
}

pane() {
	tmux -S "$SCRATCH/tmux" capture-pane -p "$@"
}

shows() {
	for _ in $(seq 200); do
		pane | grep -q -- "$1" && return
		sleep 0.05
	done
	pane
	return 1
}

live_at() {
	screen "$1"
	shows ' wait '
	[ "$(pane | grep -c '^ *1  a_state_with.*wait ')" -eq 1 ]
	sleep 0.6 # the live line is drawn again and again, in one place
	[ "$(pane | grep -c '^ *1  a_state_with.*wait ')" -eq 1 ]
	agent6 machine poke flow
	shows 'exit 0'
	pane | grep -q 'signal -> done'
	pane | grep -q '^ok: finished'
	[ "$(pane | grep -c 'a_state_with.*wait [0-9]')" -eq 0 ]
}

@test "80 columns: one live line, replaced by what happened" {
	live_at 80
}

@test "200 columns" {
	live_at 200
}

@test "a terminal made smaller while it runs: the live line fits" {
	screen 120
	shows ' wait '
	tmux -S "$SCRATCH/tmux" resize-window -x 40 -y 24
	sleep 0.6
	agent6 machine poke flow
	shows 'exit 0'
	pane | grep -q '^ok: finished'
}

@test "NO_COLOR: no colour; a dumb terminal: plain lines" {
	screen 100 NO_COLOR=1
	shows ' wait '
	agent6 machine poke flow
	shows 'exit 0'
	run ! grep -q $'\033\\[32m' <<<"$(pane -e)"
	tmux -S "$SCRATCH/tmux" kill-server
	rm -rf "$SCRATCH/state"
	screen 100 TERM=dumb
	shows 'waits to be poked'
	run ! grep -qE 'wait [0-9.]+ (ms|s)$' <<<"$(pane)"
	agent6 machine poke flow
	shows 'exit 0'
}
