# machine new, graph, pack, inspect, watch.
load ../kit/common

setup() {
	cd "$SCRATCH" || return
	export AGENT6_STATE_HOME=$SCRATCH/state
}

@test "what machine new writes checks without a warning and rehearses" {
	for kind in agent tool; do
		run --separate-stderr agent6 machine new "my-$kind" --from "$kind"
		[ "$status" -eq 0 ]
		[[ $output == *"agent6 machine rehearse my-$kind"* ]]
		run --separate-stderr agent6 machine check --strict "my-$kind"
		echo "$stderr"
		[ "$status" -eq 0 ]
		run --separate-stderr agent6 machine rehearse "my-$kind"
		echo "$output" "$stderr"
		[ "$status" -eq 0 ]
	done
	run --separate-stderr agent6 machine new my-agent
	[ "$status" -eq 2 ]
	[[ $stderr == *"File exists"* ]]
	run --separate-stderr agent6 machine new ../Up
	[ "$status" -eq 2 ]
}

@test "graph: text by default, mermaid, dot" {
	agent6 machine new g --from tool
	run --separate-stderr agent6 machine graph g
	[ "$status" -eq 0 ]
	[[ $output == *"look  (tool)"*"decide  (branch)"* ]]
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

@test "pack refuses what check refuses, and leaves nothing" {
	agent6 machine new p
	ln -s /etc/passwd p/rehearsal/x
	run --separate-stderr agent6 machine pack p -o p.asm
	[ "$status" -eq 2 ]
	[[ $stderr == *"bundle-link"* ]]
	[ ! -e p.asm ]
	[ -z "$(find . -name '.p.asm*')" ]
}

@test "watch follows an instance that another process runs, to its end" {
	agent6 machine new w --from tool
	sed -i 's/initial: look/initial: pause/; s/^states:/states:\n  pause: {kind: wait, on: {signal: look}}/' w/machine.yaml
	mkdir work
	cd work
	"$AGENT6_BIN/agent6" machine run ../w --quiet 3>&- &
	pid=$!
	until agent6 machine list | grep -q waiting; do sleep 0.05; done
	"$AGENT6_BIN/agent6" machine watch w --json >../seen 3>&- &
	watcher=$!
	until grep -qs wait.armed ../seen; do sleep 0.05; done
	agent6 machine poke w
	wait "$watcher"
	wait "$pid"
	cmp ../seen "$SCRATCH"/state/*/machines/w/journal.jsonl
}
