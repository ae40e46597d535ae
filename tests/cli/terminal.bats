# The display on a terminal: tmux at 80 and 200 columns, resized, dumb, without colour.
load ../kit/common
load flow

setup() {
	need tmux
	flow_setup <<-'END'
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
	for _ in $(seq 2000); do
		pane | grep -q -- "$1" && return
		sleep 0.05
	done
	pane
	return 1
}

# How often the screen has the live line.
live_lines() {
	pane | grep -c '^ *1  a_state_with.*waits to'
}

live_at() {
	screen "$1"
	shows '^ *1 .*waits to'
	[ "$(live_lines)" -eq 1 ]
	pane | awk -v most="$1" 'length > most { exit 1 }'
	agent6 machine poke flow
	shows 'exit 0'
	pane | grep -q 'signal -> done'
	pane | grep -q '^ok: finished'
	[ "$(live_lines)" -eq 0 ]
}

@test "80 columns: one live line, replaced by what happened" {
	live_at 80
}

@test "200 columns, with how it is woken" {
	live_at 200
}

@test "the live line of a running tool is drawn again and again, in one place" {
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: work
		budget: {max_transitions: 20}
		states:
		  done: {kind: terminal, status: ok, reason: finished}
		  work:
		    kind: tool
		    command: [sh, -c, 'until [ -e $AGENT6_MACHINE_DATA_DIR/go ]; do sleep 0.05; done']
		    timeout_secs: 60
		    on: {ok: done, nonzero: done, timeout: done}
	END
	screen 80
	shows '^ *1  work  *tool [0-9]'
	first=$(pane | grep '^ *1  work')
	changed() { [ "$(pane | grep '^ *1  work')" != "$first" ]; }
	for _ in $(seq 2000); do changed && break; sleep 0.05; done
	changed
	tmux -S "$SCRATCH/tmux" resize-window -x 24 -y 24
	first=$(pane | grep '^ *1  work')
	for _ in $(seq 2000); do changed && break; sleep 0.05; done
	[ "$(pane | grep -c '^ *1  work')" -eq 1 ]
	touch "$(echo "$SCRATCH"/state/*/machines/flow/data)/go"
	shows 'exit 0'
	[ "$(pane | grep -c 'work *tool')" -eq 0 ]
}

# One quick step, then one that ends when its data directory has a file `go`.
held_machine() {
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: begin
		budget: {max_transitions: 20}
		states:
		  begin: {kind: tool, command: ["true"], timeout_secs: 60, on: {ok: work, nonzero: done, timeout: done}}
		  work:
		    kind: tool
		    command: [sh, -c, 'until [ -e $AGENT6_MACHINE_DATA_DIR/go ]; do sleep 0.05; done']
		    timeout_secs: 60
		    on: {ok: done, nonzero: done, timeout: done}
		  done: {kind: terminal, status: ok, reason: finished}
	END
}

@test "a run in the background draws nothing over what is typed, and does so again after fg" {
	held_machine
	tmux -S "$SCRATCH/tmux" -f /dev/null new-session -d -x 100 -y 24 \
		"PATH=$AGENT6_BIN:$PATH PS1='$ ' bash --norc --noprofile -i"
	tmux -S "$SCRATCH/tmux" send-keys 'agent6 machine run ../flow &' Enter
	shows '1  begin  *ok -> work'
	tmux -S "$SCRATCH/tmux" send-keys 'echo ty'
	shows 'echo ty'
	sleep 0.5
	pane | grep -q 'echo ty$'
	run ! grep 'work  *tool' <(pane)
	tmux -S "$SCRATCH/tmux" send-keys 'ped; fg' Enter
	shows '^typed'
	shows '^ *2  work  *tool [0-9]'
	touch "$(echo "$SCRATCH"/state/*/machines/flow/data)/go"
	shows '^ok: finished'
}

@test "a terminal made smaller while it runs: the live line fits" {
	screen 120
	shows '^ *1 .*waits to'
	tmux -S "$SCRATCH/tmux" resize-window -x 40 -y 24
	[ "$(tmux -S "$SCRATCH/tmux" display-message -p '#{pane_width}')" -eq 40 ]
	agent6 machine poke flow
	shows 'exit 0'
	pane | grep -q '^ok: finished'
}

@test "NO_COLOR: no colour; a dumb terminal: plain lines" {
	screen 100 NO_COLOR=1
	shows '^ *1 .*waits to'
	agent6 machine poke flow
	shows 'exit 0'
	run ! grep -q $'\033\\[32m' <<<"$(pane -e)"
	tmux -S "$SCRATCH/tmux" kill-server
	rm -rf "$SCRATCH/state"
	screen 100 TERM=dumb
	shows 'waits to be poked'
	[ "$(live_lines)" -eq 0 ]
	agent6 machine poke flow
	shows 'exit 0'
}

# watching COLUMNS [ENV...]: follows the waiting run in a terminal that wide, to its end.
watching() {
	local columns=$1
	shift
	agent6 machine run ../flow --exit-on-wait --quiet
	tmux -S "$SCRATCH/tmux" -f /dev/null new-session -d -x "$columns" -y 24 \
		"env $* '$AGENT6_BIN/agent6' machine watch flow; echo exit \$?; cat"
	shows 'waits to be poked'
	[[ "$*" == *TERM=dumb* ]] || shows 'nobody runs it at the moment'
	[[ ${resized-} == "" ]] || tmux -S "$SCRATCH/tmux" resize-window -x "$resized" -y 24
	agent6 machine poke flow
	agent6 machine run ../flow --quiet
	shows 'exit 0'
	pane -J | tr -s ' \n' ' ' | grep -q '1 a_state_with_a_rather_long_name_that_goes_on signal -> done'
	pane -J | grep -q '^ok: finished'
}

@test "while the private clone is made, the live line says so" {
	need script git
	git init -q .
	git config user.name a
	git config user.email a@b
	git commit -q --allow-empty -m first
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: work
		budget: {max_transitions: 20}
		schemas: {out: {summary: str}}
		states:
		  done: {kind: terminal, status: ok, reason: finished}
		  work:
		    kind: agent
		    mode: run
		    prompt: work
		    output_schema: out
		    timeout_secs: 1
		    on: {ok: done, failed: done, budget_exhausted: done, timeout: done}
	END
	cat >"$SCRATCH/config.yaml" <<-'END'
		providers: {none: {api_format: openai, base_url: "http://127.0.0.1:1", auth: none}}
		models: {worker: {provider: none, model: m}}
	END
	TERM=xterm script -qec "'$AGENT6_BIN/agent6' machine run ../flow --config '$SCRATCH/config.yaml'" \
		"$SCRATCH/seen" >/dev/null </dev/null
	grep -q $'getting the private clone of the repository ready\r\033\\[Jmachine flow' "$SCRATCH/seen"
}

@test "while a rehearsal copies its workspace, the live line says so" {
	need script
	TERM=xterm script -qec "'$AGENT6_BIN/agent6' machine rehearse '$AGENT6_SRC/examples/hello'" "$SCRATCH/seen" \
		>/dev/null </dev/null
	grep -q $'copying the workspace\r\033\\[J' "$SCRATCH/seen"
}

@test "watch at 80 and 200 columns and while the terminal is made smaller" {
	watching 80
	tmux -S "$SCRATCH/tmux" kill-server
	rm -rf "$SCRATCH/state"
	watching 200
	tmux -S "$SCRATCH/tmux" kill-server
	rm -rf "$SCRATCH/state"
	resized=40
	watching 120
}

@test "watch shows what goes on, in one line that gives way" {
	held_machine
	agent6 machine run ../flow --quiet 3>&- &
	local runner=$!
	eventually agent6 machine replay flow --quiet
	tmux -S "$SCRATCH/tmux" -f /dev/null new-session -d -x 80 -y 24 \
		"'$AGENT6_BIN/agent6' machine watch flow; echo exit \$?; cat" 3>&-
	shows '^ *2  work  *since 20..-..-.. ..:..:.. UTC$'
	touch "$(echo "$SCRATCH"/state/*/machines/flow/data)/go"
	shows 'exit 0'
	wait "$runner"
	[ "$(pane | grep -c ' since ')" -eq 0 ]
	pane | grep -q '^ *2  work  *ok -> done'
}

@test "watch with NO_COLOR and on a dumb terminal writes no escape" {
	local env
	for env in NO_COLOR=1 TERM=dumb; do
		watching 100 $env
		run ! grep -q $'\033' <<<"$(pane -e)"
		tmux -S "$SCRATCH/tmux" kill-server
		rm -rf "$SCRATCH/state"
	done
}

@test "connect: interrupted while the key is typed, it gives the terminal its echo back" {
	local tty
	tmux -S "$SCRATCH/tmux" -f /dev/null new-session -d -x 80 -y 24 "trap : INT
		XDG_CONFIG_HOME=$SCRATCH '$AGENT6_BIN/agent6' connect --name a --format openai \
			--base-url http://127.0.0.1:1 --model m; echo exit \$?; cat"
	tty=$(tmux -S "$SCRATCH/tmux" display-message -p '#{pane_tty}')
	echoes() { stty -F "$tty" -a | grep -q ' echo '; }
	for _ in $(seq 2000); do
		echoes || break
		sleep 0.05
	done
	run ! echoes
	tmux -S "$SCRATCH/tmux" send-keys half-a-key C-c
	shows 'exit 130'
	echoes
	run ! grep -q half <(pane)
}

# A quick step and two branches, then work that ends when its data directory has a file `go`; again.
branching_machine() {
	cat >../flow/machine.yaml <<-'END'
		machine: flow
		version: 1
		initial: first
		budget: {max_transitions: 20}
		vars:
		  operator: {n: {type: int, value: 1}}
		states:
		  first: {kind: wait, on: {signal: which}}
		  which: {kind: branch, when: [{if: "n == 2", goto: done}, {else: true, goto: what}]}
		  what: {kind: branch, when: [{if: "n == 1", goto: work}, {else: true, goto: done}]}
		  work:
		    kind: tool
		    command: [sh, -c, 'until [ -e $AGENT6_MACHINE_DATA_DIR/go ]; do sleep 0.05; done']
		    timeout_secs: 60
		    on: {ok: after, nonzero: done, timeout: done}
		  after: {kind: branch, when: [{if: "n == 1", goto: rest}, {else: true, goto: done}]}
		  rest: {kind: wait, on: {signal: done}}
		  done: {kind: terminal, status: ok, reason: finished}
	END
}

@test "status, list, watch and a stop name the state that runs now, through branches" {
	need jq
	branching_machine
	"$AGENT6_BIN/agent6" machine run ../flow >"$SCRATCH/output" 2>&1 3>&- &
	local runner=$!
	eventually compgen -G "$SCRATCH/state/*/machines/flow/wait.json"
	tmux -S "$SCRATCH/tmux" -f /dev/null new-session -d -x 120 -y 24 \
		"'$AGENT6_BIN/agent6' machine watch flow; echo exit \$?; cat"
	shows '^ *1  first  *waits to be poked; agent6 machine poke flow$'
	agent6 machine poke flow
	works() { [[ $(agent6 machine status flow --json | jq -r '"\(.state) \(.seq) \(.status)"') == "work 3 running" ]]; }
	eventually works
	[[ $(agent6 machine status flow | head -n 1) == "flow: running in state work" ]]
	[[ $(agent6 machine list --json | jq -r '.[0] | "\(.state) \(.seq) \(.status)"') == "work 3 running" ]]
	shows '^ *4  work  *since 20[0-9-]* [0-9:]* UTC$'
	agent6 machine stop flow
	touch "$(echo "$SCRATCH"/state/*/machines/flow/data)/go"
	wait "$runner"
	local parked='It is parked before state rest; running it again continues it.'
	grep -qx "$parked" "$SCRATCH/output"
	shows "^$parked\$"
	[[ $(agent6 machine list --json | jq -r '.[0] | "\(.state) \(.seq) \(.status)"') == "rest 5 stopped" ]]
	[[ $(agent6 machine status flow --json | jq -r '"\(.state) \(.seq) \(.status)"') == "rest 5 stopped" ]]
	[[ $(agent6 machine status flow | head -n 1) == "flow: stopped in state rest" ]]
}

@test "watch shows the first state while it runs" {
	held_machine
	sed -i 's/initial: begin/initial: work/; /^  begin:/d' ../flow/machine.yaml
	"$AGENT6_BIN/agent6" machine run ../flow >"$SCRATCH/output" 2>&1 3>&- &
	local runner=$!
	eventually compgen -G "$SCRATCH/state/*/machines/flow/data"
	tmux -S "$SCRATCH/tmux" -f /dev/null new-session -d -x 80 -y 24 "'$AGENT6_BIN/agent6' machine watch flow; cat"
	shows '^ *1  work  *since 20'
	touch "$(echo "$SCRATCH"/state/*/machines/flow/data)/go"
	wait "$runner"
}
