# machine run and what looks at instances: exit codes, drift, gate, parameters, waits, output.
load ../kit/common

setup() {
	export AGENT6_STATE_HOME=$SCRATCH/state
	mkdir "$SCRATCH/repo" "$SCRATCH/flow"
	cd "$SCRATCH/repo" || return
}

# flow REASON [STATUS]: a machine with one tool.
flow() {
	cat >"$SCRATCH/flow/machine.yaml" <<-END
		machine: flow
		version: 1
		initial: work
		budget: {max_transitions: 20}
		vars:
		  operator:
		    word: {type: str, value: plain}
		    times: {type: int, value: 1}
		states:
		  work:
		    kind: tool
		    command: ["true"]
		    timeout_secs: 10
		    on: {ok: done, nonzero: done, timeout: done}
		  done: {kind: terminal, status: ${2-ok}, reason: "$1 {{ word }} {{ times }}"}
	END
}

# A run in the middle of its only state; $! is its runner.
asleep() {
	flow went
	sed -i 's/\["true"\]/[sh, -c, "echo >begun; sleep 30"]/; s/timeout_secs: 10/timeout_secs: 60/
		s/kind: tool/&\n    workspace: write/' ../flow/machine.yaml
	"$AGENT6_BIN/agent6" machine run ../flow --quiet 3>&- &
	eventually test -e begun
}

# A machine that waits to be poked, then shows what the poke brought.
waiting() {
	cat >"$SCRATCH/flow/machine.yaml" <<-'END'
		machine: flow
		version: 1
		initial: pause
		budget: {max_transitions: 20}
		schemas:
		  poke: {data: {type: json, optional: true}, message: {type: str, optional: true}}
		vars:
		  code:
		    got: {type: poke, default: {}}
		states:
		  pause: {kind: wait, on: {signal: look}}
		  look:
		    kind: tool
		    command: [sh, -c, 'cat "$AGENT6_MACHINE_DATA_DIR/poke.json"']
		    timeout_secs: 10
		    output_schema: poke
		    capture: {set: {got: "{{ result }}"}}
		    on: {ok: done, nonzero: bad, timeout: bad}
		  done: {kind: terminal, status: ok, reason: "{{ got | json }}"}
		  bad: {kind: terminal, status: failed, reason: no poke}
	END
}

@test "a machine file that cannot be used is named with its directory, once" {
	local dir=$SCRATCH/flow make text
	while IFS='|' read -r make text; do
		rm -rf "$dir"
		mkdir "$dir"
		(cd "$dir" && eval "$make")
		run -2 agent6 machine run "$dir"
		echo "$make: $output"
		[[ $output == *"$dir/$text"* && $(grep -v 'RUNNING AS ROOT' <<<"$output" | grep -c 'machine[.]json') -eq 1 ]]
	done <<-'END'
		mkfifo machine.json|machine.json: error[bundle-file]: this is a FIFO, not a file
		mkdir machine.json|machine.json: error[bundle-file]: this is a directory, not a file
		ln -s nowhere machine.json|machine.json: error[bundle-link]: the symbolic link leads nowhere
		echo '{"a": 1,' >machine.json|machine.json:2:1: error[json-syntax]
		echo '{}' >machine.json; echo '{}' >machine.yaml|machine.yaml: error[bundle-machine]: there is a machine file already: machine.json
	END
}

@test "ends ok: one plain line per step, 0" {
	flow went
	run --separate-stderr agent6 machine run ../flow
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"    1  work            ok -> done"* ]]
	[[ $output == *"ok: went plain 1"* ]]
}

@test "ends failed: 1; a budget: 3" {
	flow went failed
	run --separate-stderr agent6 machine run ../flow
	[ "$status" -eq 1 ]
	[[ $output == *"failed: went"* ]]
	sed -i 's/done, nonzero/work, nonzero/' ../flow/machine.yaml
	run --separate-stderr agent6 machine run ../flow --id loop
	[ "$status" -eq 3 ]
	[[ $output == *max_transitions* ]]
}

@test "an end with an exit_code exits with it: resumed, too, and never where the machine did not get there" {
	mkdir -p ends/scripts
	cat >ends/machine.yaml <<'END'
machine: ends
version: 1
initial: look
budget: {max_transitions: 4}
vars: {operator: {way: {type: str, value: a}}}
states:
  look: {kind: branch, when: [{if: way == 'a', goto: found}, {if: way == 'b', goto: lost}, {if: way == 'd', goto: look}, {else: true, goto: rest}]}
  rest: {kind: wait, every_secs: 3600, on: {tick: found, signal: found}}
  found: {kind: terminal, status: ok, exit_code: 20, reason: something was found}
  lost: {kind: terminal, status: failed, exit_code: 63, reason: nothing}
END
	run -20 agent6 machine run ends
	run -2 agent6 machine run ends
	run -63 agent6 machine run ends --id b --set way=b
	run -0 agent6 machine run ends --id c --set way=c --exit-on-wait
	agent6 machine poke c
	run -20 agent6 machine run ends --id c --set way=c --exit-on-wait
	run -3 agent6 machine run ends --id d --set way=d
}

@test "retries count against max_transitions, and stand beside the steps wherever those do" {
	flow went failed
	sed -i 's/\["true"\]/["false"]/; s/timeout_secs/retry: {on: [nonzero], max: 2, backoff_secs: 0}\n    &/
		s/nonzero: done/nonzero: work/; s/transitions: 20/transitions: 7/' ../flow/machine.yaml
	run -3 --separate-stderr agent6 machine run ../flow
	[[ $output == *"max_transitions (7) is used up before state work  (2 steps, 5 retries)"* ]]
	[[ $(agent6 machine status flow) == *"steps       2, 5 retries"* ]]
	[[ $(agent6 machine replay flow) == *"(2 steps, 5 retries)"* ]]
	agent6 machine report flow -o page.html
	grep -q 'of at most 7, 5 retries<' page.html
}

@test "--json prints the journal's lines, --quiet nothing" {
	flow went
	agent6 machine run ../flow --json >lines
	cmp lines "$SCRATCH"/state/*/machines/flow/journal.jsonl
	run --separate-stderr agent6 machine run ../flow --id other --quiet
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
	agent6 machine run ../flow --id both --json --quiet >lines # the lines, and nothing for people
	cmp lines "$SCRATCH"/state/*/machines/both/journal.jsonl
	flow went failed
	run -1 --separate-stderr agent6 machine run ../flow --id third --quiet
	[ -z "$output" ]
	[[ $stderr == "agent6: third ended failed: went "*"  (1 step)" ]]
}

@test "an instance that ended stays ended" {
	flow went
	agent6 machine run ../flow --quiet
	local option
	for option in '' --quiet --json; do
		run -2 --separate-stderr agent6 machine run ../flow $option
		[[ -z $output && $stderr == *"flow had ended before: ok: went"* ]]
		[[ $stderr == *"Run it again: under another --id, or after agent6 machine prune flow" ]]
	done
	run -0 --separate-stderr agent6 machine run ../flow --exit-on-wait # a timer comes again
	[[ $output == *"flow had ended before: ok"* ]]
	run -0 --separate-stderr agent6 machine run ../flow --exit-on-wait --quiet
	[[ -z $output$stderr ]]
	run --separate-stderr -0 agent6 machine replay flow
	[[ $output != *"had ended before"* && ${lines[-1]} == "ok: "* ]]
	run --separate-stderr agent6 machine poke flow
	[ "$status" -eq 2 ]
	[[ $stderr == *"has ended"* ]]
	flow went failed
	agent6 machine run ../flow --id bad --quiet || [ $? -eq 1 ]
	for option in '' --quiet --exit-on-wait; do
		run -2 --separate-stderr agent6 machine run ../flow --id bad $option
		[[ -z $output && $stderr == *"bad had ended before: failed: went"*"--id, or after agent6 machine prune bad" ]]
	done
	flow went
	# A value that it did not run with is not taken for granted.
	run -2 --separate-stderr agent6 machine run ../flow --quiet --set times=1
	[[ $stderr == *"had ended before: ok"* ]]
	for with in "--set times=7" "--set times=7 --quiet" "--set times=7 --json"; do
		# shellcheck disable=SC2086
		run --separate-stderr agent6 machine run ../flow $with
		[[ $status -eq 2 && -z $output && $stderr == *"another value of times"* ]]
	done
}

@test "parameters: --params, then --set; checked; recorded" {
	flow went
	echo 'word: filed' >params.yaml
	run --separate-stderr agent6 machine run ../flow --params params.yaml --set times=7
	[ "$status" -eq 0 ]
	[[ $output == *"went filed 7"* ]]
	run --separate-stderr agent6 machine run ../flow --id b --set times=many
	[ "$status" -eq 2 ]
	[[ $stderr == *times* ]]
	run --separate-stderr agent6 machine run ../flow --id b --set tmies=2
	[ "$status" -eq 2 ]
	[[ $stderr == *tmies* ]]
	run --separate-stderr agent6 machine run ../flow --id b --params nowhere.yaml
	[ "$status" -eq 2 ]
	local row
	for row in 'word: &a x|:1:7: the anchor' 'word: a\n1: b|:2:1: a key must be a string' \
		'times: 1\ntimes: 2|:2:1: the key `times` stands twice' 'times: .nan|:1:8: ' '# none|: the file holds no value' \
		'word: x\ntimes: "2"|:2:1: times: expected an integer' '\ntmies: 2|:2:1: machine'; do
		printf '%b\n' "${row%%|*}" >params.yaml
		run --separate-stderr agent6 machine run ../flow --id b --params params.yaml
		echo "$row: $stderr"
		[ "$status" -eq 2 ]
		[[ $stderr == *"params.yaml${row#*|}"* ]]
	done
	run --separate-stderr agent6 machine status b
	[ "$status" -eq 2 ]
}

@test "a start without a parameter that has no value names all that are missing, and leaves nothing" {
	mkdir -p need
	cat >need/machine.yaml <<'END'
machine: need
version: 1
initial: say
budget: {max_transitions: 5}
schemas:
  where: {host: str, port: {type: int, min: 1}}
vars:
  operator:
    base: {type: str, description: the branch to compare with}
    level: {type: str, enum: [low, high]}
    target: {type: where}
states:
  say:
    kind: tool
    command: [echo, "{{ base }}", "{{ level }}", "{{ target.host }}:{{ target.port }}"]
    timeout_secs: 10
    capture: {stdout_json: heard}
    on: {ok: done, nonzero: done, timeout: done}
  done: {kind: terminal, status: ok, reason: "{{ base }} {{ level }} {{ target.host }}"}
END
	sed -i '/capture:/d' need/machine.yaml
	agent6 machine check need
	agent6 machine test need
	run -2 --separate-stderr agent6 machine run need --set base=main
	[[ $stderr == *'machine "need" needs 2 more parameters:
  --set level=str (one of low, high)
  --set target=where'* ]]
	run -2 agent6 machine status need
	run -2 --separate-stderr agent6 machine run need --set base=main --set level=low --set 'target={"host":"h"}'
	[[ $stderr == *"target.port: required, but missing"* ]]
	run -0 agent6 machine run need --set base=main --set level=low --set 'target={"host":"h","port":1}'
	[[ $output == *"ok: main low h"* ]]
	run -0 agent6 machine replay need
	[[ $output == *"ok: main low h"* ]]
}

@test "a changed bundle does not continue an instance; both digests are named" {
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	old=$(agent6 machine inspect ../flow --json | grep -o 'sha256:[0-9a-f]*' | head -n 1)
	echo "# changed" >>../flow/machine.yaml
	new=$(agent6 machine inspect ../flow --json | grep -o 'sha256:[0-9a-f]*' | head -n 1)
	run --separate-stderr agent6 machine run ../flow --exit-on-wait
	[ "$status" -eq 2 ]
	[[ $stderr == *"$old, "*"$new: "*"agent6 machine prune flow --unfinished"* ]]
	# The suggested command goes on.
	agent6 machine poke flow
	run -0 --separate-stderr eval "${stderr##*own copy: } --exit-on-wait"
	[[ $output == *"pause "*"signal -> "* ]]
}

@test "an instance whose own copy of the bundle was changed runs nothing; rm -rf takes it all away" {
	waiting
	mkdir ../flow/scripts
	echo : >../flow/scripts/kept
	agent6 machine run ../flow --exit-on-wait --quiet
	copy=$(echo "$SCRATCH"/state/*/machines/flow/bundle)
	[[ $(stat -c %a "$copy/machine.yaml") == 444 ]]
	touch "$copy/scripts/added"
	run --separate-stderr agent6 machine run ../flow --exit-on-wait
	echo "$stderr"
	[[ $status -eq 5 && $stderr == *"copy of the bundle has the digest"* ]]
	for verb in status replay; do
		run --separate-stderr agent6 machine "$verb" flow
		[[ $status -eq 5 && $stderr == *"the stored bundle of instance flow was changed: its digest is sha256:"*"began with sha256:"* ]]
	done
	agent6 machine verify flow
	rm -f "$copy/scripts/added"
	agent6 machine run ../flow --exit-on-wait --quiet
	cp "$copy/machine.yaml" ../changed
	sed -i s/look/gaze/ ../changed
	mv -f ../changed "$copy/machine.yaml"
	run --separate-stderr agent6 machine run ../flow --exit-on-wait
	echo "$stderr"
	[[ $status -eq 5 && $stderr == *"copy of the bundle has the digest"* ]]
	give_user "$SCRATCH"
	as_user rm -rf "$SCRATCH/state"
}

@test "a refused overlay is shown where its author wrote it" {
	flow went
	echo 'config: {sandbox: {limits: {memory_mb: 999999}}, machine: {}}' >>../flow/machine.yaml
	run --separate-stderr agent6 machine run ../flow
	echo "$stderr"
	[ "$status" -eq 2 ]
	[[ $stderr == *"../flow/machine.yaml:"* && $stderr != *"$SCRATCH/state"* ]]
}

@test "--digest refuses anything else" {
	flow went
	run --separate-stderr agent6 machine run ../flow --digest sha256:0000
	[ "$status" -eq 2 ]
	[[ $stderr == *"--digest"* ]]
	digest=$(agent6 machine inspect ../flow --json | grep -o 'sha256:[0-9a-f]*' | head -n 1)
	run agent6 machine run ../flow --digest "$digest" --quiet
	[ "$status" -eq 0 ]
}

# A bundle in a repository that holds it as it is.
committed_flow() {
	need git
	flow went
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
	git -C .. init -q
	git -C .. add flow
	git -C .. commit -qm flow
}

@test "line ends that only the operator's own git settings explain are named, with what to do" {
	committed_flow
	rm ../flow/machine.yaml
	git -C .. -c core.autocrlf=true checkout -q flow
	[[ -z $(git -C .. -c core.autocrlf=true status --short flow) ]]
	run -2 --separate-stderr agent6 machine run ../flow
	[[ $stderr == *"flow/machine.yaml (changed)"*'`git config core.autocrlf true`'* ]]
	git -C .. config core.autocrlf true
	run -0 agent6 machine run ../flow --quiet
	echo '# more' >>../flow/machine.yaml
	git -C .. config core.autocrlf false
	tr -d '\r' <../flow/machine.yaml >plain && mv plain ../flow/machine.yaml
	run -2 --separate-stderr agent6 machine run ../flow --id second
	[[ $stderr == *"flow/machine.yaml (changed)"* && $stderr != *autocrlf* ]]
}

@test "uncommitted bundles are refused in a repository, and --allow-uncommitted is recorded" {
	need git
	flow went
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
	git -C .. init -q
	run --separate-stderr agent6 machine run ../flow
	[ "$status" -eq 2 ]
	[[ $stderr == *"not committed: flow/machine.yaml (not tracked)"* ]]
	git -C .. add flow
	git -C .. commit -qm flow
	run agent6 machine run ../flow --quiet
	[ "$status" -eq 0 ]
	mkdir ../flow/scripts
	echo x >../flow/scripts/new
	run --separate-stderr agent6 machine run ../flow --id second
	[ "$status" -eq 2 ]
	[[ $stderr == *"flow/scripts/new (not tracked)"* ]]
	echo new >../flow/scripts/.gitignore
	git -C .. add flow
	git -C .. commit -qm ignore
	run --separate-stderr agent6 machine run ../flow --id second
	[ "$status" -eq 2 ]
	[[ $stderr == *"flow/scripts/new (ignored by git)"* ]]
	run --separate-stderr agent6 machine run ../flow --id second --allow-uncommitted --json
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *'"allow-uncommitted"'* ]]
}

@test "what the index is told not to look at is looked at" {
	committed_flow
	local flag when
	for flag in assume-unchanged skip-worktree; do
		git -C .. update-index --$flag flow/machine.yaml
		echo '# not reviewed' >>../flow/machine.yaml
		run -2 --separate-stderr agent6 machine run ../flow
		[[ $stderr == *"not committed: flow/machine.yaml (hidden from git status)"* ]]
		git -C .. update-index --no-$flag flow/machine.yaml
		git -C .. checkout -q flow
	done
	git -C .. config core.trustctime false
	git -C .. config core.checkStat minimal
	echo '# x' >../flow/README
	touch -d '1 hour ago' ../flow/README
	git -C .. add flow
	git -C .. commit -qm readme
	when=$(stat -c %y ../flow/README)
	sleep 1.1 # git looks at whole seconds of a change
	echo '# y' >../flow/README
	touch -d "$when" ../flow/README
	run -2 --separate-stderr agent6 machine run ../flow
	[[ $stderr == *"flow/README (changed)"* ]]
}

@test "the gate fails closed, and runs nothing the repository planted" {
	need git
	flow went
	git -C .. init -q
	git -C .. config core.fsmonitor "touch $SCRATCH/owned; false"
	run --separate-stderr agent6 machine run ../flow
	[ "$status" -eq 2 ]
	[ ! -e "$SCRATCH/owned" ]
	echo nonsense >../.git/HEAD
	run --separate-stderr agent6 machine run ../flow
	[ "$status" -eq 2 ]
	[[ $stderr == *"cannot tell whether the bundle is committed"* ]]
}

@test "no read that fails is taken for an end: neither of what git says nor of what a tool prints" {
	need strace
	committed_flow
	cat >../flow/machine.yaml <<'YAML'
machine: said
version: 1
initial: say
vars:
  code: {word: {type: json, default: nothing}}
budget: {max_transitions: 5}
states:
  say: {kind: tool, command: [printf, '"whole"'], timeout_secs: 20, capture: {stdout_json: word}, on: {ok: good, nonzero: bad, timeout: bad}}
  good: {kind: terminal, status: ok, reason: "{{ word | json }}"}
  bad: {kind: terminal, status: failed, reason: bad}
YAML
	local reads n
	run -2 strace -qq -e trace=read -o trace "$AGENT6_BIN/agent6" machine run ../flow
	reads=$(grep -c 'read(' trace)
	for ((n = 1; n <= reads; n++)); do
		run ! strace -qq -e inject=read:error=EIO:when=$n -e trace=read -o trace \
			"$AGENT6_BIN/agent6" machine run ../flow --id "gate$n"
	done
	git -C .. commit -qam said
	run -0 strace -qq -e trace=read -o trace "$AGENT6_BIN/agent6" machine run ../flow
	[[ $output == *whole* ]]
	reads=$(grep -c 'read(' trace)
	for ((n = 1; n <= reads; n++)); do
		run strace -qq -e inject=read:error=EIO:when=$n -e trace=read -o trace \
			"$AGENT6_BIN/agent6" machine run ../flow --id "read$n"
		[[ $status -ne 0 || $output == *whole* ]] || { echo "read $n: $output"; false; }
	done
}

@test "a repository put around the bundle by a command does not vouch for it" {
	committed_flow
	flow changed
	git -C ../flow init -q
	git -C ../flow add .
	git -C ../flow commit -qm planted
	run --separate-stderr agent6 machine run ../flow
	[ "$status" -eq 2 ]
	[[ $stderr == *"flow/machine.yaml (changed)"* ]]
}

@test "a wait parks, a poke wakes it and its payload reaches the next tool" {
	waiting
	run --separate-stderr agent6 machine run ../flow --exit-on-wait
	[ "$status" -eq 0 ]
	[[ $output == *"waiting"*"agent6 machine poke flow"* ]]
	run --separate-stderr agent6 machine status flow
	[[ $output == *"flow: waiting in state pause"* ]]
	[[ $(agent6 machine status flow --json) == *'"says":null'* ]]
	run --separate-stderr agent6 machine poke flow --data '{"n": [1, 2'
	[ "$status" -eq 2 ]
	run --separate-stderr -2 agent6 machine poke flow --data "$(perl -e 'print "[" x 64, "]" x 64')"
	[[ $stderr == *"nests deeper than 63 levels"* ]]
	agent6 machine poke flow --data '{"n": [1, 2]}'
	run --separate-stderr agent6 machine run ../flow
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *'ok: {"data":{"n":[1,2]}}'* ]]
	sed -i 's/kind: wait,/& notify: "Shall {{ got | json }} stay?",/' ../flow/machine.yaml
	agent6 machine run ../flow --id asks --exit-on-wait --quiet
	[[ $(agent6 machine status asks --json) == *'"says":"Shall {} stay?"'* ]]
}

@test "list says what each instance is for" {
	flow went
	sed -i '1a description: Says a word and ends.' ../flow/machine.yaml
	agent6 machine run ../flow --quiet
	agent6 machine run ../flow --quiet --id "$(printf 'i%.0s' {1..64})"
	run agent6 machine list
	[ "$(grep -c 'UTC  Says a word and ends\.$' <<<"$output")" -eq 2 ]
	need jq
	agent6 machine list --json | jq -e 'all(.[]; .description == "Says a word and ends.")'
	agent6 machine run ../flow --quiet --id damaged
	agent6 machine run ../flow --quiet --id empty
	(cd "$SCRATCH"/state/*/machines && echo x >damaged/journal.jsonl && rm empty/{journal.jsonl,snapshot.json})
	agent6 machine list --json | jq -c '.[] | [.id[:7], .status, .seq, .state, .updated == null]' >"$SCRATCH/listed"
	grep -qF '["damaged","damaged",null,null,true]' "$SCRATCH/listed"
	grep -qF '["empty","empty",0,null,true]' "$SCRATCH/listed"
	agent6 machine list --json | jq -e 'map(keys) | unique | length == 1' # one shape, whatever became of it
}

@test "a run writes no snapshot of its first line alone" {
	need strace
	flow went
	strace -qq -e signal=none -o "$SCRATCH/trace" -e trace=pwrite64,rename,renameat,renameat2 "$AGENT6_BIN/agent6" machine run ../flow --quiet
	# The list of files that host programs run is noted behind it; a snapshot would be another rename.
	[[ $(grep -v '"autorun.json' "$SCRATCH/trace" | grep -A 1 '"{\\"t\\":\\"begin') == *'"{\"t\":\"step'* ]]
	grep -q '"snapshot.json"' "$SCRATCH/trace"
}

@test "list shows what stands in a journal without its control characters" {
	flow went
	agent6 machine run ../flow --quiet
	sed -i '$s/"state":"/"state":"\\u001b[31m/' "$SCRATCH"/state/*/machines/flow/journal.jsonl
	run agent6 machine list
	[[ $output == *'  ok  '*'  \x1b[31m'* && $output != *$'\033'* ]]
	sed -i '$s/"status":"ok"/"status":"\\u001b[31mok"/' "$SCRATCH"/state/*/machines/flow/journal.jsonl
	run agent6 machine list
	[[ $output == *'  damaged  '* && $output != *$'\033'* ]]
}

@test "a start looks through the workspace and through nothing that is installed" {
	need git strace
	flow committed
	git init -q
	cp -r ../flow .
	git add flow
	git -c user.name=n -c user.email=e@e commit -qm flow
	strace -f -qq -e trace=openat,execve -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine run flow --quiet
	grep -qF '"flow"' "$SCRATCH/trace"
	# Directories that are read: the bundle's, the instance's, a few of each jail and git.
	[ "$(grep -c O_DIRECTORY "$SCRATCH/trace")" -lt 500 ]
	# Which jail works, the names of the settings, what is tracked, what is changed.
	[ "$(grep -c 'execve(.*/git", .* = 0$' "$SCRATCH/trace")" -le 4 ]
}

@test "list reads each instance once, and takes none for another" {
	flow went
	need strace jq
	local machines i
	for i in a b d e; do
		sed -i "/^description/d; 1a description: of $i" ../flow/machine.yaml
		agent6 machine run ../flow --quiet --id $i
	done
	machines=$(echo "$SCRATCH"/state/*/machines)
	for i in c f; do cp -r "$machines/a" "$machines/$i"; done
	mv "$machines"/d/bundle/machine.{yaml,json} # not JSON
	rm -r "$machines"/[ef]/bundle               # the journal still names the one that f ran
	agent6 machine list --json >"$SCRATCH/listed"
	[ "$(jq -c 'map(.description)' "$SCRATCH/listed")" = '["of a","of b","of a",null,null,"of a"]' ]
	for i in a b; do
		[ "$(agent6 machine status $i --json | jq .bundle)" = \
			"$(jq ".[] | select(.id == \"$i\").bundle" "$SCRATCH/listed")" ]
	done
	local calls=()
	for i in 0 100; do
		[ "$i" -eq 0 ] || for ((; i; i--)); do cp -r "$machines/a" "$machines/more$i"; done
		strace -e trace=%file,%desc -o "$SCRATCH/trace" "$AGENT6_BIN/agent6" machine list >"$SCRATCH/listed"
		calls+=("$(wc -l <"$SCRATCH/trace")")
	done
	grep -c 'UTC  of a$' "$SCRATCH/listed"
	# The journal: opened, examined, its two ends read, closed.
	[ $((calls[1] - calls[0])) -lt 700 ]
}

@test "list says what each instance has cost, with a snapshot, a large one or none" {
	need jq strace
	cd "$SCRATCH"
	cp -r "$AGENT6_SRC/examples/triage" "$SCRATCH/large"
	sed -i "s/^  code:/&\n    ballast: {type: str, default: \"$(printf '%010000d' 0)\"}/" large/machine.yaml
	agent6 machine rehearse "$SCRATCH/large" --dir kept --exit-on-wait --quiet
	export AGENT6_STATE_HOME=$SCRATCH/kept/state
	cd kept/workspace
	run agent6 machine list
	[[ $output == *"COST"*"triage  waiting  pause  4      \$0."* ]]
	local i=$(echo "$AGENT6_STATE_HOME"/*/machines/triage) snapshot
	[ "$(stat -c %s "$i/snapshot.json")" -gt 10000 ]
	jq -se '.[0][0].totals == .[1].totals and .[1].totals.usd > 0' \
		<(agent6 machine list --json) <(agent6 machine status triage --json)
	# The line of a wait has them, that of a stop has not.
	local stop='{"t":"stop","ts":"2026-11-21T10:00:00.000000Z","seq":5,"state":"pause"}'
	stop=${stop%\}},\"h\":\"$(printf %s "$(tail -n 1 "$i/journal.jsonl" | jq -r .h)" "$stop" | sha256sum | cut -c1-64)\"}
	echo "$stop" >>"$i/journal.jsonl"
	agent6 machine list | grep -F 'triage  stopped  pause  4 '
	for snapshot in kept gone; do
		strace -y -e trace=read,pread64 -o "$SCRATCH/trace" \
			"$AGENT6_BIN/agent6" machine list --json >"$SCRATCH/listed"
		jq -se '.[0][0].totals == .[1].totals and .[1].totals.usd > 0' \
			"$SCRATCH/listed" <(agent6 machine status triage --json)
		# Neither the blackboard nor the lines that it stands for are read for a list.
		awk -F '= ' '/journal.jsonl>|snapshot.json>/ { n += $NF } END { print n }' "$SCRATCH/trace" >>"$SCRATCH/bytes"
		rm -f "$i/snapshot.json"
	done
	[ "$(head -n 1 "$SCRATCH/bytes")" -lt 8192 ]
}

stopping() {
	[[ $(agent6 machine status flow --json) == *'"stopping":true'* ]]
}

@test "what was asked of a run that cannot do it yet is said" {
	asleep
	agent6 machine stop flow
	run agent6 machine status flow
	kill -KILL $!
	[[ $output == *"stopping    it parks as soon as this state has ended"* ]]
	wait $! || true
	rm begun
	asleep
	kill -TERM $!
	eventually stopping
	kill -KILL $!
	wait $! || true
	[ -s "$(agent6 machine status flow --json | grep -o '"directory":"[^"]*' | cut -c14-)/journal.jsonl" ]
	run agent6 machine poke flow
	[[ $status -eq 0 && $output == *"nobody runs it at the moment"* ]]
}

@test "list names the state that a run began in" {
	need jq
	asleep
	run --separate-stderr agent6 machine list --json
	kill -KILL $!
	jq -e '.[0] | .state == "work" and .seq == 0' <<<"$output"
}

@test "a first start that is refused leaves nothing; what was there before stays" {
	flow went
	local wrong=sha256:$(printf '0%.0s' {1..64}) machines
	agent6 machine run ../flow --quiet --id begun
	machines=$(echo "$SCRATCH"/state/*/machines)
	mkdir -p "$machines/early/data"
	for id in new begun early; do
		run agent6 machine run ../flow --id "$id" --digest "$wrong"
		[[ $status -eq 2 && $output == *"the bundle's digest is"* ]]
	done
	ls -A "$machines"
	[ "$(ls -A "$machines" | tr '\n' ' ')" = 'begun early ' ]
	[ -s "$machines/begun/journal.jsonl" ]
	[ -d "$machines/early/data" ]
	agent6 machine run ../flow --quiet --id new
}

@test "stop parks a running instance; a second runner is refused and told who runs it" {
	waiting
	sed -i 's/kind: wait,/& notify: Go on?,/' ../flow/machine.yaml
	"$AGENT6_BIN/agent6" machine run ../flow --json >lines 2>/dev/null 3>&- &
	pid=$!
	eventually grep wait.armed lines
	run --separate-stderr agent6 machine run ../flow
	[ "$status" -eq 2 ]
	[[ $stderr == *"$pid"*"machine stop flow\"; a run beside it needs another --id" ]]
	run --separate-stderr -2 agent6 machine prune --unfinished flow
	[[ $stderr == *"$pid"*"machine stop flow\"" ]]
	run --separate-stderr agent6 machine list
	[[ $output == *"flow"*"waiting"*"pause"* ]]
	agent6 machine stop flow
	wait "$pid"
	run --separate-stderr agent6 machine list --json
	echo "$output"
	[[ $output == *'"status":"stopped"'* && $output == *'"reason":null'* ]]
	run --separate-stderr agent6 machine status flow --json
	[[ $output == *'"reason":null'* ]]
	run --separate-stderr agent6 machine status flow
	[[ $output == "flow: stopped in state pause"*"parked      it was asked to stop"*"says        Go on?"* ]]
	run --separate-stderr agent6 machine replay flow
	[[ $output == *"not ended  (0 steps)"* ]]
}

@test "a run that was killed is told from one that was parked" {
	local pid
	flow went
	sed -i 's/\["true"\]/[sh, -c, "touch begun; sleep 60"]/; s/timeout_secs: 10/timeout_secs: 100/' ../flow/machine.yaml
	"$AGENT6_BIN/agent6" machine run ../flow --quiet 3>&- &
	pid=$!
	eventually test -e begun
	kill -9 "$pid"
	wait "$pid" || true
	# Its children end with it, and hold the lock until then.
	ended() { [[ $(agent6 machine status flow) != "flow: running"* ]]; }
	eventually ended
	[[ $(agent6 machine status flow) == "flow: stopped in state work"*"cut off     it was killed, its host went down, its disk was full"* ]]
	[[ $(agent6 machine status flow --json) == *'"cut_off":true'* ]]
}

@test "SIGTERM parks: 143; the same command continues" {
	waiting
	"$AGENT6_BIN/agent6" machine run ../flow --json >lines 2>/dev/null 3>&- &
	pid=$!
	eventually grep wait.armed lines
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	[ "$code" -eq 143 ]
	agent6 machine poke flow --message go
	run --separate-stderr agent6 machine run ../flow
	[ "$status" -eq 0 ]
	[[ $output == *'{"message":"go"}'* ]]
}

@test "a wait that was stopped waits again, for status and list, when it is gone on with" {
	need jq
	waiting
	"$AGENT6_BIN/agent6" machine run ../flow --json >lines 2>/dev/null 3>&- &
	pid=$!
	eventually grep wait.armed lines
	run -0 agent6 machine stop flow
	wait "$pid"
	[ "$(agent6 machine status flow --json | jq -r .status)" = stopped ]
	[ "$(agent6 machine list --json | jq -r '.[].status')" = stopped ]
	run -0 agent6 machine run ../flow --exit-on-wait
	[[ $output == *"It waits in state pause"* ]]
	[ "$(agent6 machine status flow --json | jq -r .status)" = waiting ]
	[ "$(agent6 machine list --json | jq -r '.[].status')" = waiting ]
	run -0 agent6 machine replay flow --quiet
}

@test "replay --to shows the blackboard there; --with finds where another bundle goes elsewhere" {
	flow went
	agent6 machine run ../flow --set times=3 --quiet
	run -0 agent6 machine replay flow --to 1 --quiet
	[ -z "$output" ]
	run --separate-stderr -2 agent6 machine replay flow --to 99
	[[ $stderr == *"--to 99: instance flow has "*" step"*"replay flow"* ]]
	run --separate-stderr -2 agent6 machine replay flow --to -1
	[[ $stderr == *"--to takes an integer of at least 0, not '-1'"* ]]
	run --separate-stderr agent6 machine replay flow --to 1
	[[ $output == *'{"times":3,"word":"plain"}'* ]]
	run --separate-stderr agent6 machine replay flow --with ../flow
	[ "$status" -eq 0 ]
	sed -i 's/  done: /  other: {kind: terminal, status: ok, reason: x}\n  done: /; s/ok: done/ok: other/' ../flow/machine.yaml
	run --separate-stderr agent6 machine replay flow --with ../flow
	[ "$status" -eq 1 ]
	[[ $stderr == *"seq 1"*"other"* ]]
}

@test "replay --quiet has nothing to say of a run that failed" {
	flow went failed
	run -1 agent6 machine run ../flow --quiet
	run -0 agent6 machine replay flow --quiet
	[ -z "$output" ]
}

@test "verify finds a changed byte: 5" {
	flow went
	agent6 machine run ../flow --quiet
	run --separate-stderr agent6 machine verify flow
	[ "$status" -eq 0 ]
	sed -i '2s/"exit":0/"exit":1/' "$SCRATCH"/state/*/machines/flow/journal.jsonl
	run --separate-stderr agent6 machine verify flow
	[ "$status" -eq 5 ]
	[[ $stderr == *"line 2"* ]]
	run --separate-stderr -5 agent6 machine verify flow --json
	[[ $stderr == *"line 2"* && $output == '{"id":"flow","lines":1,"ok":false}' ]]
	run --separate-stderr agent6 machine replay flow
	[ "$status" -eq 5 ]
	run --separate-stderr -5 agent6 machine run ../flow
	[[ $stderr == *"line 2"*"bring the file back from a copy, or begin again under another --id" ]]
}

@test "verify finds whole lines that are missing at the end: 5" {
	flow went
	agent6 machine run ../flow --quiet
	sed -i '$d' "$SCRATCH"/state/*/machines/flow/journal.jsonl
	run --separate-stderr agent6 machine verify flow
	echo "$stderr"
	[[ $status -eq 5 && $stderr == *"ends at line "*"what is missing was committed"* ]]
	rm "$SCRATCH"/state/*/machines/flow/snapshot.json
	run -0 agent6 machine verify flow
}

@test "what was committed and is missing is asked for, and nothing is done again: 5" {
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	agent6 machine poke flow
	cp -r "$SCRATCH"/state/*/machines/flow whole
	cp -r ../flow ../changed
	echo '# Other bytes.' >>../changed/machine.yaml
	local dir damage
	dir=$(echo "$SCRATCH"/state/*/machines/flow)
	for damage in "rm journal.jsonl" "truncate -s 0 journal.jsonl" "sed -i \$d journal.jsonl"; do
		rm -r "$dir"
		cp -r whole "$dir"
		(cd "$dir" && $damage)
		run ! agent6 machine run ../changed
		diff -r whole/bundle "$dir/bundle"
		for verb in "run ../flow" "status flow" "verify flow" "replay flow"; do
			run --separate-stderr agent6 machine $verb
			echo "$damage, $verb: $status $output $stderr"
			[[ $status -eq 5 && $stderr == *"what is missing was committed"* ]]
		done
		run ! agent6 machine prune flow
	done
	cp whole/journal.jsonl "$dir"
	run -0 agent6 machine run ../flow
}

@test "a torn last line is dropped, also one that the snapshot counted" {
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	local dir count
	dir=$(echo "$SCRATCH"/state/*/machines/flow)
	count=$(wc -l <"$dir/journal.jsonl")
	cp -r "$dir" whole
	truncate -s -20 "$dir/journal.jsonl"
	run --separate-stderr -5 agent6 machine verify flow
	[[ $stderr == *"line $count: unfinished"*"resuming the instance drops it" ]]
	run -0 agent6 machine replay flow
	run -0 agent6 machine run ../flow --exit-on-wait
	[[ $output == *"dropped an unfinished last line"* ]]
	run -0 agent6 machine verify flow
	rm -r "$dir"
	cp -r whole "$dir"
	sed -i '$d' "$dir/journal.jsonl"
	truncate -s -20 "$dir/journal.jsonl"
	run --separate-stderr -5 agent6 machine run ../flow
	[[ $stderr == *"what is missing was committed"* ]]
}

@test "a start that is killed while it drops a torn line is taken up" {
	need strace
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	local dir call n
	dir=$(echo "$SCRATCH"/state/*/machines/flow)
	truncate -s -20 "$dir/journal.jsonl"
	cp -r "$dir" whole
	for call in ftruncate renameat; do
		for n in 1 2; do
			rm -r "$dir"
			cp -r whole "$dir"
			run ! strace -qq -e signal=none -o trace -e trace="$call" -e inject="$call:signal=KILL:when=$n" \
				"$AGENT6_BIN/agent6" machine run ../flow --exit-on-wait
			run -0 agent6 machine run ../flow --exit-on-wait
			run -0 agent6 machine verify flow
		done
	done
}

@test "a torn line that the snapshot counts stays until that can be written anew" {
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	local dir
	dir=$(echo "$SCRATCH"/state/*/machines/flow)
	truncate -s -20 "$dir/journal.jsonl"
	cp "$dir/journal.jsonl" torn
	mkdir -p "$dir/.snapshot.json.tmp/full"
	run -5 agent6 machine run ../flow --exit-on-wait
	[[ $output == *"cannot create snapshot.json"* && $output == *"ends at line 1, and had 2"* ]]
	cmp torn "$dir/journal.jsonl"
	rm -r "$dir/.snapshot.json.tmp"
	run -0 agent6 machine run ../flow --exit-on-wait
	run -0 agent6 machine verify flow
}

@test "a torn first line that the snapshot counted is dropped" {
	local round pid dir
	flow went
	sed -i 's/\["true"\]/[sh, -c, "touch begun; sleep 60"]/; s/timeout_secs: 10/timeout_secs: 100/' ../flow/machine.yaml
	for round in 1 2; do # the second drops what is behind `begin`, and then writes a snapshot
		rm -f begun
		"$AGENT6_BIN/agent6" machine run ../flow --quiet 3>&- &
		pid=$!
		eventually test -e begun
		kill -9 "$pid"
		wait "$pid" || true
		dir=$(echo "$SCRATCH"/state/*/machines/flow)
		eventually flock --nonblock "$dir" true
		printf torn >>"$dir/journal.jsonl"
	done
	grep -q '"lines":1,' "$dir/snapshot.json"
	truncate -s $(($(head -n 1 "$dir/journal.jsonl" | wc -c) - 20)) "$dir/journal.jsonl"
	sed -i 's/sleep 60/true/' ../flow/machine.yaml
	run -0 agent6 machine run ../flow
	run -0 agent6 machine verify flow
}

@test "what stands behind an end damages it: 5" {
	flow went
	agent6 machine run ../flow --quiet
	echo garbage >>"$(echo "$SCRATCH"/state/*/machines/flow/journal.jsonl)"
	for verb in "run ../flow" "status flow" "verify flow"; do
		run --separate-stderr -5 agent6 machine $verb
		[[ $stderr == *"it is not a journal line"* ]]
	done
	run --separate-stderr -2 agent6 machine poke flow
	[[ $stderr == *"journal.jsonl, its last line: not valid JSON"* ]]
}

@test "a start that lost its journal is listed as damaged" {
	need jq
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	: >"$(echo "$SCRATCH"/state/*/machines/flow/journal.jsonl)"
	agent6 machine list --json | jq -e '.[0].status == "damaged" and (.[0].reason | test("committed"))'
	rm "$SCRATCH"/state/*/machines/flow/journal.jsonl
	agent6 machine list --json | jq -e '.[0].status == "damaged"'
	rm "$SCRATCH"/state/*/machines/flow/snapshot.json
	agent6 machine list --json | jq -e '.[0].status == "empty"'
}

@test "an instance that another user owns or may write is not gone on with" {
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	local dir
	dir=$(echo "$SCRATCH"/state/*/machines/flow)
	chmod 770 "$dir"
	run -2 --separate-stderr agent6 machine run ../flow --exit-on-wait
	[[ $stderr == *"$dir: its mode is 0770"*"chmod 700 it"* ]]
	chmod 700 "$dir"
	run -0 agent6 machine run ../flow --exit-on-wait
	((!EUID)) || return 0
	chown 12345 "$dir"
	run -2 --separate-stderr agent6 machine run ../flow --exit-on-wait
	[[ $stderr == *"$dir belongs to user 12345"*"chown -R it to yourself"* ]]
	local user # who may call sudo has a home
	user=$(id -u nobody)
	chown "$user" "$dir"
	run -0 env SUDO_UID="$user" "$AGENT6_BIN/agent6" machine run ../flow --exit-on-wait
}

@test "a run is not kept where others could put another one in its place" {
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	local root=$SCRATCH/state repo dir
	repo=$(echo "$root"/*/machines)
	repo=${repo%/machines}
	for dir in "$root" "$repo" "$repo/machines"; do
		chmod 777 "$dir"
		run -2 --separate-stderr agent6 machine run ../flow --exit-on-wait
		echo "$stderr"
		[[ $stderr == *"$dir: its mode is 0777"*"chmod go-w it"* ]]
		chmod 1777 "$dir" # as of /tmp: nobody moves what is another's
		run -0 agent6 machine run ../flow --exit-on-wait
		chmod 755 "$dir"
		run -0 agent6 machine run ../flow --exit-on-wait
	done
	((!EUID)) || return 0
	for dir in "$repo" "$repo/machines"; do
		chown 12345 "$dir"
		run -2 --separate-stderr agent6 machine run ../flow --exit-on-wait
		[[ $stderr == *"$dir belongs to user 12345"* ]]
		chown 0 "$dir"
	done
	chown 12345 "$root" # as a container's root finds what is mounted for it
	run -0 agent6 machine run ../flow --exit-on-wait
}

@test "an instance whose copy of the bundle is damaged is refused with what to do: 5" {
	waiting
	agent6 machine run ../flow --exit-on-wait --quiet
	local copy
	copy=$(echo "$SCRATCH"/state/*/machines/flow/bundle)
	rm "$copy/machine.yaml"
	run --separate-stderr agent6 machine run ../flow --exit-on-wait
	echo "$stderr"
	[[ $status -eq 5 && $stderr == *"put the bundle's files back into $copy"*"there is no machine file"* ]]
	cp ../flow/machine.yaml "$copy"
	run -0 agent6 machine run ../flow --exit-on-wait
}

@test "instances that are not there" {
	for verb in status replay verify poke stop prune; do
		run --separate-stderr agent6 machine $verb nothing
		[ "$status" -eq 2 ]
		[[ $stderr == *"there is no instance nothing here; "*"machine list"* ]]
	done
	run --separate-stderr agent6 machine list
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ $stderr == *"no instance of this repository or directory"* ]]
	run --separate-stderr agent6 machine list --json
	[ "$output" = "[]" ]
}

@test "on a terminal there is a live line; TERM=dumb and NO_COLOR are respected" {
	need script
	flow went
	export TERM=xterm
	script -qec "$AGENT6_BIN/agent6 machine run ../flow --id a" out >/dev/null </dev/null
	grep -q $'\r\033\\[J' out
	grep -q $'\033\\[32mok' out
	NO_COLOR=1 script -qec "$AGENT6_BIN/agent6 machine run ../flow --id b" out >/dev/null </dev/null
	run ! grep -q $'\033\\[32m' out
	TERM=dumb script -qec "$AGENT6_BIN/agent6 machine run ../flow --id c" out >/dev/null </dev/null
	run ! grep -q $'\033' out
	grep -q "ok: went" out
}

@test "an optional field that a result lacks leaves its variable as it was; such journals have format 2" {
	need jq
	mkdir -p lacks
	cat >lacks/machine.yaml <<'END'
machine: lacks
version: 1
initial: first
budget: {max_transitions: 9}
schemas: {out: {n: int, note: {type: str, optional: true}}}
vars: {code: {n: {type: int, default: 0}, note: {type: str, default: none}}}
states:
  first:
    kind: tool
    command: [echo, '{"n": 1, "note": "one"}']
    timeout_secs: 9
    output_schema: out
    capture: {set: {n: "{{ result.n }}", note: "{{ result.note }}"}}
    on: {ok: second, nonzero: broken, timeout: broken}
  second:
    kind: tool
    command: [echo, '{"n": 2}']
    timeout_secs: 9
    output_schema: out
    capture: {set: {n: "{{ result.n }}", note: "{{ result.note }}"}}
    on: {ok: done, nonzero: broken, timeout: broken}
  done: {kind: terminal, status: ok, reason: "{{ n }}, {{ note }}"}
  broken: {kind: terminal, status: failed, reason: broken}
END
	run -0 agent6 machine run lacks
	[[ $output == *"ok: 2, one"* ]]
	run -0 agent6 machine replay lacks
	[[ $output == *"second"*"ok -> done"* ]]
	[[ $(head -1 "$SCRATCH"/state/*/machines/lacks/journal.jsonl | jq .format) == 2 ]]
	sed -i 's/note: "{{ result.note }}"/note: "{{ note }}"/' lacks/machine.yaml
	run -0 agent6 machine run lacks --id plain
	[[ $(head -1 "$SCRATCH"/state/*/machines/plain/journal.jsonl | jq .format) == 1 ]]
}

@test "a state with max_visits does its work so often, also over a stop; then it is exhausted" {
	need jq
	mkdir -p bounded
	cat >bounded/machine.yaml <<'END'
machine: bounded
version: 1
initial: try
budget: {max_transitions: 20}
states:
  try:
    kind: tool
    command: [sh, -c, 'echo x >>tries; false']
    notify: trying
    timeout_secs: 9
    max_visits: 3
    on: {ok: done, nonzero: rest, timeout: done, exhausted: stuck}
  rest: {kind: wait, on: {signal: try}}
  done: {kind: terminal, status: ok, reason: done}
  stuck: {kind: terminal, status: failed, exit_code: 30, reason: three tries were not enough}
END
	for _ in 1 2 3; do
		run -0 agent6 machine run bounded --exit-on-wait
		agent6 machine poke bounded
	done
	run -30 agent6 machine run bounded --exit-on-wait
	[[ $output == *"exhausted -> stuck"* && $output != *trying* ]]
	[[ $(wc -l <tries) -eq 3 ]]
	run -0 agent6 machine replay bounded
	[[ $output == *"exhausted -> stuck"* ]]
	run -0 agent6 machine verify bounded
	run -0 agent6 machine test bounded
	[[ $output == *"exhausted -> stuck"* ]]
	run -0 jq -sc '[.[0].format, (.[] | select(.label == "exhausted") | .fact)]' "$SCRATCH"/state/*/machines/bounded/journal.jsonl
	[[ $output == '[2,{"visits":3}]' ]]
	run -0 agent6 machine graph bounded --format mermaid
	[[ $output == *'|"exhausted"|'* ]]
	agent6 machine report bounded >page.html || agent6 machine report bounded --output page.html
	grep -q exhausted page.html
}
