# machine new, graph, pack, inspect, watch.
load ../kit/common

setup() {
	cd "$SCRATCH" || return
	export AGENT6_STATE_HOME=$SCRATCH/state
}

@test "what machine new writes checks without a warning, passes its test and rehearses" {
	for stock in "$AGENT6_SRC"/machines/*/; do
		kind=$(basename "$stock")
		run --separate-stderr agent6 machine new "my-$kind" --from "$kind"
		[ "$status" -eq 0 ]
		[[ $output == *"agent6 machine rehearse my-$kind"* ]]
		[ "$(diff -r "$stock" "my-$kind" | grep -c '^[<>]')" -eq 2 ]
		grep -qx "machine: my-$kind" "my-$kind/machine.yaml"
		agent6 machine new --help | grep -q "^  $kind  "
		for verb in "check --strict" test rehearse; do
			run --separate-stderr agent6 machine $verb "my-$kind"
			echo "$output" "$stderr"
			[ "$status" -eq 0 ]
		done
	done
	run --separate-stderr agent6 machine new my-agent
	[ "$status" -eq 2 ]
	[[ $stderr == *"File exists"* ]]
	run --separate-stderr agent6 machine new ../Up
	[ "$status" -eq 2 ]
}

@test "machine new begins with any bundle, and leaves nothing of one that is broken" {
	agent6 machine new first --from tool
	printf '{"description":"é","machine":"j","version":1,"initial":"end","budget":{"max_transitions":1},' >j.asm.json
	printf '"states":{"end":{"kind":"terminal","status":"ok","reason":"r"}}}' >>j.asm.json
	sed 's/^machine: first/machine: "first" # kept/' -i first/machine.yaml
	agent6 machine pack first -o first.asm
	agent6 machine new second --from ./first.asm
	grep -qx 'machine: "second" # kept' second/machine.yaml
	[ -x second/scripts/look.sh ]
	agent6 machine new third --from j.asm.json
	grep -q '"é","machine":"third","version"' third/machine.json
	for bundle in second third; do
		agent6 machine check "$bundle"
	done
	sed -i 's/goto: nothing/goto: nowhere/' first/machine.yaml
	run --separate-stderr agent6 machine new fourth --from ./first
	[ "$status" -eq 2 ]
	[[ $stderr == *"first/machine.yaml:"*"unknown-state"* ]]
	[ ! -e fourth ]
	run --separate-stderr agent6 machine new fourth --from nothing
	[ "$status" -eq 2 ]
	[[ $stderr == *"no bundle nothing comes with agent6"*"./nothing"* ]]
}

@test "machine new that is killed leaves nothing under the name, and works again" {
	need strace
	run strace -o trace -e inject=mkdirat:signal=KILL:when=1 \
		"$AGENT6_BIN/agent6" machine new killed --from agent
	[ "$status" -eq 137 ]
	[ ! -e killed ]
	(umask 027 && agent6 machine new killed --from agent)
	[ "$(stat -c %a killed)" = 750 ]
	agent6 machine check killed
}

@test "machine pack says that the file is there when only its directory cannot be synced" {
	need strace
	agent6 machine new unsynced --from tool
	run -2 strace -o trace -e inject=fsync:error=EIO:when=2 \
		"$AGENT6_BIN/agent6" machine pack unsynced
	[[ $output == *"unsynced.asm is written, but a power failure may undo that: cannot sync its directory: Input/output error"* ]]
	agent6 machine check unsynced.asm
}

@test "machine new renames a machine however its name is written, and cleans its description" {
	mkdir old
	for name in '>-\n  old' '|-\n    old\n' "'old'" '"o\\u006cd" # c' '\n  old'; do
		printf 'description: "one\\nline\\e[31m"\nmachine: %b\nversion: 1\ninitial: a\nbudget: {max_transitions: 5}\nstates: {a: {kind: terminal, status: ok, reason: x}}\n' \
			"$name" >old/machine.yaml
		agent6 machine check ./old >checked
		grep -F ': machine old,' checked
		rm -rf fresh
		run --separate-stderr agent6 machine new fresh --from ./old
		[ "$status" -eq 0 ]
		[[ ${lines[0]} == "fresh: one line"* && ${lines[1]} == next: && $output != *$'\e'* ]]
		agent6 machine check fresh >checked
		grep -F ': machine fresh,' checked
	done
}

@test "the review says what a shallow clone lacks" {
	agent6 machine new review --from review
	git init -q -b topic lone
	cd lone
	git -c user.name=a -c user.email=a@example.invalid commit -q --allow-empty -m one
	run -1 --separate-stderr ../review/scripts/changes.sh main
	[[ -z $output && $stderr == "no history leads from main to HEAD here: fetch all of it, or name another --set base=" ]]
	git branch main
	run -0 --separate-stderr ../review/scripts/changes.sh main
	[[ $output == '{"files":0,"diff":""}' ]]
	cd ..
	mkdir none
	cd none
	run -1 --separate-stderr ../review/scripts/changes.sh main
	[[ -z $output && $stderr == "no git repository is in sight here: start at the top of a work tree"* ]]
}

@test "what cannot be made where it was asked for says where it can" {
	mkdir sub
	run -2 agent6 machine new sub/flow
	[[ $output == "agent6: a new bundle lies in the working directory: go to sub/, and name it flow" ]]
	run -2 agent6 machine new --from review /flow
	[[ $output == "agent6: a new bundle lies in the working directory: go to /, and name it flow" ]]
	agent6 machine new flow
	TMPDIR=$PWD/none run -2 agent6 machine rehearse flow
	[[ $output == *"cannot create $PWD/none/agent6-rehearsal-"*": No such file or directory; TMPDIR chooses another place" ]]
}

@test "a rehearsal does not copy the working directory into itself" {
	agent6 machine new t --from tool
	rm -r t/rehearsal
	run --separate-stderr agent6 machine rehearse t --dir kept
	[ "$status" -ne 0 ]
	[[ $stderr == *"name one outside with --dir"* ]]
	run --separate-stderr agent6 machine rehearse t --dir "$(mktemp -d)"
	[ "$status" -eq 0 ]
}

@test "graph: text by default, mermaid, dot" {
	agent6 machine new g --from tool
	run --separate-stderr agent6 machine graph g
	[ "$status" -eq 0 ]
	[[ $output == *"look  (tool)"*"decide  (branch)"* ]]
	# A person who waits to be poked does not think first of the end without a poke.
	printf '%s\n' 'machine: w' 'version: 1' 'initial: rest' 'budget: {max_transitions: 9}' 'states:' \
		'  rest: {kind: wait, every_secs: 9, on: {tick: late, signal: good}}' \
		'  late: {kind: terminal, status: failed, reason: r}' \
		'  good: {kind: terminal, status: ok, reason: r}' >w.asm.yaml
	LC_ALL=C run --separate-stderr agent6 machine graph w.asm.yaml
	[[ $output == *"tick ---- v late"*$'\n'"v signal"$'\n'"* good"* ]]
	run --separate-stderr agent6 machine graph g --format mermaid
	[[ ${lines[0]} == "flowchart TD" ]]
	run --separate-stderr agent6 machine graph g --format dot
	[[ ${lines[0]} == digraph* ]]
}

@test "graph: svg through Graphviz" {
	need dot
	agent6 machine new g
	run --separate-stderr agent6 machine graph g --format svg
	[ "$status" -eq 0 ]
	[[ $output == *"<svg"*"gave_up"*"</svg>"* ]]
}

@test "pack is deterministic and inspect lists members" {
	agent6 machine new p
	agent6 machine pack p -o one.asm
	(umask 077 && cp -r p q && touch -d 2001-01-01 q/machine.yaml && TZ=Asia/Tokyo agent6 machine pack q -o two.asm)
	cmp one.asm two.asm
	run --separate-stderr agent6 machine inspect one.asm
	[ "$status" -eq 0 ]
	[[ $output == *"form         packed"*"machine.yaml"*"rehearsal/judge.jsonl"* ]]
	run --separate-stderr agent6 machine rehearse one.asm --quiet
	[ "$status" -eq 0 ]
}

@test "without libarchive only packed bundles are refused, and told what is missing" {
	agent6 machine new p
	agent6 machine pack p -o p.asm
	mkdir lib
	: >lib/libarchive.so.13
	export LD_LIBRARY_PATH=$PWD/lib
	agent6 machine check p
	local verb
	for verb in 'check p.asm' 'inspect p.asm' 'pack p -o q.asm'; do
		read -ra verb <<<"$verb"
		run --separate-stderr agent6 machine "${verb[@]}"
		echo "$output $stderr"
		[ "$status" -eq 2 ]
		[[ $stderr == *"packed bundles need libarchive, which cannot be loaded: "*"; install it"* ]]
	done
	[ ! -e q.asm ]
}
@test "pack refuses what check refuses, and leaves nothing" {
	agent6 machine new p
	ln -s /etc/passwd p/rehearsal/x
	run --separate-stderr agent6 machine pack p -o p.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *"bundle-link"* ]]
	[ ! -e p.asm ]
	[ -z "$(find . -name '.p.asm*')" ]
}

@test "pack writes files only: what stands there and is none stays" {
	agent6 machine new p
	mkfifo pipe.asm
	run --separate-stderr agent6 machine pack p -o pipe.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *"pipe.asm is there and is not a regular file" ]]
	[ -p pipe.asm ]
	mkdir taken.asm
	run --separate-stderr agent6 machine pack p -o taken.asm
	[ "$status" -eq 2 ]
	[ -d taken.asm ]
	run --separate-stderr agent6 machine pack p -o ''
	[ "$status" -eq 2 ]
}

@test "the three forms have one digest, whatever letters a name is made of" {
	agent6 machine new p
	mkdir -p p/prompts
	echo text >"p/prompts/cafe"$'\u0301'.md
	agent6 machine pack p -o p.asm
	run agent6 machine inspect p.asm --json
	packed=$(jq -r .digest <<<"$output")
	run agent6 machine inspect p --json
	[ "$packed" = "$(jq -r .digest <<<"$output")" ]
}

@test "watch ends when nobody reads what it prints, though nothing happens any more" {
	need timeout
	agent6 machine new w --from tool
	sed -i 's/initial: look/initial: pause/; s/^states:/states:\n  pause: {kind: wait, on: {signal: look}}/' w/machine.yaml
	mkdir work
	cd work
	agent6 machine run ../w --quiet --exit-on-wait
	run -2 bash -c 'timeout 100 "$AGENT6_BIN/agent6" machine watch w --json >/dev/full'
	run -0 bash -c 'timeout 100 "$AGENT6_BIN/agent6" machine watch w --json | head -n 1
		exit $((PIPESTATUS[0] == 124))'
	[[ $output == '{"t":"begin"'* ]]
}

@test "watch follows an instance that another process runs, to its end" {
	agent6 machine new w --from tool
	sed -i 's/initial: look/initial: pause/; s/^states:/states:\n  pause: {kind: wait, on: {signal: look}}/' w/machine.yaml
	mkdir work
	cd work
	"$AGENT6_BIN/agent6" machine run ../w --quiet 3>&- &
	pid=$!
	waits() { agent6 machine list | grep -q waiting; }
	eventually waits
	"$AGENT6_BIN/agent6" machine watch w --json >../seen 3>&- &
	watcher=$!
	eventually grep wait.armed ../seen
	agent6 machine poke w
	wait "$watcher"
	wait "$pid"
	cmp ../seen "$SCRATCH"/state/*/machines/w/journal.jsonl
}
