#!/usr/bin/env bats
# Repositories that a state's commands make: what becomes of the step, and what a person is told.

load ../kit/common
load machine

setup() {
	need jq
	need git
	live_setup
	rm -rf "$SCRATCH/ws/.git"
}

@test "a tool that makes a repository is nonzero, and the repository is moved aside before that is committed" {
	tool_machine plants '[sh, -c, "git init -q sub; git init -q $AGENT6_MACHINE_DATA_DIR/own; git init -q /tmp/own; mkdir .git || echo held"]'
	run agent6 machine run "$SCRATCH/plants"
	echo "$output"
	[[ $status -eq 1 && $output == *"made the repository $SCRATCH/ws/sub/.git, which was moved aside; back with: chmod u+rwX "* ]]
	[[ $(fact plants '"\(.exit) \(.stdout)"') == "0 held" ]]
	journal_has plants '"label":"nonzero"'
	[[ $(fact plants .planted) == "it made a repository; \$AGENT6_MACHINE_DATA_DIR or /tmp is where one may be made: $SCRATCH/ws/sub/.git, now "* ]]
	[[ $(fact plants .reason) == "it made a repository; "* ]]
	[[ ! -e $SCRATCH/ws/sub/.git && ! -e $SCRATCH/ws/.git && -d $(instance plants)/data/own/.git ]]
	local moved
	moved=$(fact plants '.moved_aside[0].to')
	[[ $moved == "$(instance plants)/aside/"* && $(fact plants '.moved_aside[0].path') == "$SCRATCH/ws/sub/.git" ]]
	# The printed command restores it.
	eval "$(sed -n 's/.*back with: \(chmod .*\)$/\1/p' <<<"$output" | head -n 1)"
	[[ -e $SCRATCH/ws/sub/.git/HEAD && ! -e $moved ]]
	agent6 audit | grep -q repository
}

@test "where a repository may be left, the step is nonzero and the next command is refused" {
	two_tools shut '[perl, -e, "for (1 .. 140) { mkdir q(d); chdir q(d) }"]' 20
	run go shut
	echo "$output"
	[[ $status -ne 0 && $output == *"state next: "*"at layout: "*"cannot be searched for sockets, pipes and repositories: it lies too deep"* ]]
	[[ $(fact shut .planted) == "no other command begins: "* && ! -e $SCRATCH/ws/ran ]]
	rm -rf "$SCRATCH/ws/d"
	go shut
	[[ -e $SCRATCH/ws/ran ]]
}

@test "status and the page name repositories in the data directory, and the page what was moved aside" {
	tool_machine data '[sh, -c, "cd $AGENT6_MACHINE_DATA_DIR && git init -q --bare deep/bare && git init -q tree && mkdir -p hg/.hg a/objects a/refs plain link && ln -s /tmp plain/up && ln -s ../tree/.git link/.git; cd - && git init -q \"sub/a b\""]'
	run agent6 machine run "$SCRATCH/data"
	echo "$output"
	[[ $status -eq 1 ]]
	local data
	data=$(instance data)/data
	agent6 machine status --json data | jq -e --arg data "$data" '.repositories.cut == false and
		(.repositories.paths | sort) == ([$data + ("/deep/bare", "/hg", "/link", "/tree")] | sort)'
	run agent6 machine status data
	echo "$output"
	[[ $output == *"  repositories in its data directory; git of yours executes what they say"*"$data/"* ]]
	agent6 machine report data -o "$SCRATCH/page.html"
	grep -q '<a href="#repositories">' "$SCRATCH/page.html"
	grep -q "<li><code>$data/deep/bare</code></li>" "$SCRATCH/page.html"
	# The command of the page brings back what was moved.
	local back
	back=$(sed -n 's,.*back with: <code>\(chmod [^<]*\)</code>.*,\1,p' "$SCRATCH/page.html" | sed "s/&#39;/'/g; s/&amp;/\&/g")
	grep -q '<a href="#step-1-1">step 1, work</a>: <code>'"$SCRATCH/ws/sub/a b/.git</code>, now <code>$(instance data)/aside/1/moved</code>; back with: " "$SCRATCH/page.html"
	eval "$back"
	[[ -e "$SCRATCH/ws/sub/a b/.git/HEAD" ]]
}

@test "a repository of a command that was cut is moved aside, and status and the page name it" {
	tool_machine cut '[sh, -c, "git init -q sub; touch ready; exec sleep 300"]'
	"$AGENT6_BIN/agent6" machine run "$SCRATCH/cut" >"$SCRATCH/out" 2>&1 &
	local run=$! home
	eventually test -e "$SCRATCH/ws/ready"
	kill -KILL "$run"
	wait "$run" || true
	home=$(instance cut)
	eventually test -e "$home/aside/1/moved"
	[[ ! -e $SCRATCH/ws/sub/.git ]]
	agent6 machine status --json cut | jq -e --arg ws "$SCRATCH/ws" --arg home "$home" \
		'.moved_aside == [{path: ($ws + "/sub/.git"), to: ($home + "/aside/1/moved")}]'
	agent6 machine report cut -o "$SCRATCH/page.html"
	grep -F -A1 "Commands that were cut made these" "$SCRATCH/page.html" | grep -F "$SCRATCH/ws/sub/.git</code>, now "
	run agent6 machine status cut
	echo "$output"
	[[ $output == *"moved aside"*"$SCRATCH/ws/sub/.git; back with: chmod u+rwX "* ]]
	eval "$(sed -n 's/.*back with: //p' <<<"$output")"
	[[ -e $SCRATCH/ws/sub/.git/HEAD ]]
	agent6 machine status --json cut | jq -e '.moved_aside == null'
}

@test "a data directory that is too deep or holds many repositories is not searched as a whole, and that is said" {
	tool_machine full '["true"]'
	go full
	agent6 machine status --json full | jq -e '.repositories == null'
	run agent6 machine report full -o -
	[[ $output != *'"repositories"'* && $output != *'"#repositories"'* ]]
	local data number
	data=$(instance full)/data
	for number in {1..20}; do
		mkdir -p "$data/$number/.git"
	done
	agent6 machine status --json full | jq -e '.repositories | .cut == false and (.paths | length) == 20'
	mkdir "$data/21" "$data/21/.hg"
	agent6 machine status --json full | jq -e '.repositories | .cut and (.paths | length) == 20'
	run agent6 machine status full
	[[ $output == *"    it was not searched as a whole and may hold others"* ]]
	agent6 machine report full -o - | grep -q 'The data directory was not searched as a whole'
	rm -r "${data:?}"/*
	mkdir -p "$data/$(printf 'd/%.0s' {1..40})"
	agent6 machine status --json full | jq -e '.repositories == {paths: [], cut: true}'
	rm -r "$data"
	ln -s "$SCRATCH" "$data"
	agent6 machine status --json full | jq -e '.repositories == {paths: [], cut: true}'
}

# A command of an agent, and its verification, each make one in the clone that they work in.
planting_agent() { # WHO PROFILE
	local dir=$SCRATCH/stage-$1-$2 home moved
	printf '%s\n' "sandbox: {profile: $2, run_commands: \"yes\"}" >"$SCRATCH/config.yaml"
	coding_machine "plants-$2" "initial: edit
budget: {max_transitions: 9, max_usd: 5.0}
config: {workflow: {verify_command: [sh, -c, 'echo verified && git init -q verify/own']}}" good bad </dev/null
	mkdir -p "$SCRATCH/plants-$2/rehearsal"
	cat >"$SCRATCH/plants-$2/rehearsal/a.jsonl" <<'END'
{"state":"edit","match":{"turn":0,"tools":["run_verify_command","run_command"]},"reply":{"tool_calls":[{"name":"run_command","arguments":{"argv":["sh","-c","git init -q made && echo well"]}}]}}
{"state":"edit","match":{"turn":1,"last":"The command failed: it made a repository; /tmp is where one may be made: "},"reply":{"tool_calls":[{"name":"run_verify_command","arguments":{}}]}}
{"state":"edit","match":{"turn":2,"last":"The command failed: it made a repository; /tmp is where one may be made: "},"reply":{"tool_calls":[{"name":"run_command","arguments":{"argv":["sh","-c","git init -q \"$HOME/own\"; ls -d made/.git verify/own/.git; echo gone"]}}]}}
{"state":"edit","match":{"turn":3,"last":"gone"},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"done"}}]}}
END
	committed "$dir/workspace"
	give_user "$SCRATCH"
	[[ $1 == as_user ]] || chown -R root: "$dir"
	run "$1" env XDG_CONFIG_HOME="$SCRATCH/config" "$AGENT6_BIN/agent6" machine rehearse --config "$SCRATCH/config.yaml" --dir "$dir" "$SCRATCH/plants-$2"
	echo "$output"
	[[ $status -eq 0 && $output == *"state edit made the repository "*"/made/.git, which was moved aside; back with: chmod "* ]]
	home=$(echo "$dir"/state/*/machines/plants-*)
	grep -a '"t":"step"' "$home/journal.jsonl" | jq -r '.fact.moved_aside[] | .path, .to' >"$SCRATCH/moved"
	[[ $(sed -n '1s,.*/\(made/.git\)$,\1,p; 3s,.*/\(verify/own/.git\)$,\1,p' "$SCRATCH/moved" | paste -sd' ') == "made/.git verify/own/.git" ]]
	for moved in $(sed -n '2p; 4p' "$SCRATCH/moved"); do
		[[ $moved == "$home/aside/"*/moved && -d $moved && $(stat -c %a "$moved") == 0 ]]
	done
	[[ -z $(find "$home" -name aside -prune -o -path '*/made/.git' -print -o -path '*/own/.git' -print) ]]
	# Each is in the audit trail, with the command and with both of its places.
	grep -rah '"t":"sandbox_violation".*"what":"repository"' "$dir/state" >"$SCRATCH/audit"
	cat "$SCRATCH/audit"
	jq -se 'length == 4 and all(.[]; .state == "edit") and map(select(.path) | .path, .to) == $moved and
			map(.argv // empty | last) == ["git init -q made && echo well", "echo verified && git init -q verify/own"]' \
		--argjson moved "$(jq -R . "$SCRATCH/moved" | jq -s .)" "$SCRATCH/audit"
}

@test "an agent's command that makes a repository has failed, and so has its verification; both are moved aside and audited" {
	planting_agent env strict
	planting_agent as_user strict
}

@test "an agent's command that makes a repository has failed, hardened" {
	need_hardened
	planting_agent as_user hardened
}
