#!/usr/bin/env bats
# Machines that write code: the private clone, the branch, the operator's checkout that stays as it is.

load ../kit/common
load machine
load coding

@test "a run state's commit is on the branch, and nothing else of the operator's has changed" {
	repository
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	local before
	before=$(operator "$WS")
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $(operator "$WS") == "$before" ]]
	[[ $(git -C "$WS" log --format=%s "main..agent6/machine-fixer") == "fixer: edit" ]]
	[[ $(git -C "$WS" log -1 --format=%B "agent6/machine-fixer") == *"state edit"*"Agent6-Step: fixer-1"* ]]
	[[ $(git -C "$WS" diff --name-status main agent6/machine-fixer | tr '\t\n' '  ') == "M file A new " ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:file) == two ]]
	(
		cd "$WS"
		export AGENT6_STATE_HOME=$SCRATCH/dir/state
		[[ $(agent6 machine status fixer --json | jq -r '.branch | "\(.name) \(.base) \(.tip)"') == \
			"agent6/machine-fixer $(git rev-parse main) $(tip fixer)" ]]
		[[ $(agent6 machine status fixer) == *"branch      agent6/machine-fixer, "* ]]
		agent6 machine report fixer -o "$SCRATCH/page.html"
	)
	grep -q "git log -p $(git -C "$WS" rev-parse main | cut -c -12)..agent6/machine-fixer" "$SCRATCH/page.html"
	git -C "$WS" fsck --strict
	git -C "$WS" checkout -q -f main -b elsewhere
	git -C "$WS" -c user.name=op -c user.email=op@host cherry-pick agent6/machine-fixer
	[[ $(cat "$WS/file" "$WS/new") == "two"$'\n'"created" ]]
}

@test "an ordinary user's commits are the user's files" {
	repository
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	give_user "$SCRATCH"
	run as_user "$AGENT6_BIN/agent6" machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/fixer"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ -z $(find "$WS" ! -user "$(stat -c %U "$WS")") ]]
	[[ $(as_user git -C "$WS" show agent6/machine-fixer:file) == two ]]
}

@test "a commit that the repository does not take is the state's failure, not the machine's" {
	repository
	coder fixer "$CHECK" <<'END'
{"state":"edit","match":{"turn":0},"reply":{"tool_calls":[{"name":"apply_edit","arguments":{"path":".gitmodules","edits":[{"kind":"create","new_string":"[submodule \"../x\"]\n\tpath = x\n\turl = --upload-pack=x\n"}]}}]}}
{"state":"edit","match":{"turn":1},"reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"done"}}]}}
END
	run rehearse fixer
	echo "$output"
	[[ $status -eq 1 && $output == *"failed -> undone"*"disallowed submodule name"*"failed: bad"* ]]
	[[ $(tip fixer) == "$(git -C "$WS" rev-parse main)" ]]
}

@test "a second state goes on where the first one ended, and a second instance at the branch's tip" {
	repository
	coder fixer "  after: {kind: tool, command: [sh, -c, 'git log --oneline | wc -l; echo made >made'], timeout_secs: 20, on: {ok: more, nonzero: bad, timeout: bad}}
  more: {kind: agent, mode: run, prompt: More., output_schema: note, timeout_secs: 60, on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}}" <<<"$EDITS
$FINISH
{\"state\":\"more\",\"reply\":{\"tool_calls\":[{\"name\":\"apply_edit\",\"arguments\":{\"path\":\"new\",\"edits\":[{\"kind\":\"replace\",\"old_string\":\"created\",\"new_string\":\"again\"}]}}]}}
{\"state\":\"more\",\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"more\"}}]}}"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	# git works inside the jail, on the history of both.
	[[ $(cat "$SCRATCH"/dir/state/*/machines/fixer/states/2-after/stdout) -eq 2 ]]
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer | tr '\n' ,) == "fixer: more,fixer: after,fixer: edit," ]]
	[[ $(git -C "$WS" log --name-only --format= main..agent6/machine-fixer | tr '\n' ,) == "new,made,file,new," ]]
	rm -r "$SCRATCH/dir/state" "$SCRATCH"/dir/positions-*
	run rehearse fixer
	echo "$output"
	[[ $status -eq 1 && $output == *"does not match"* ]] # the tree has `new` already
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer | wc -l) -eq 3 ]]
}

@test "what became of the branch while a machine was parked is said, and it goes on when that is mended" {
	repository
	coder fixer "  after: {kind: wait, on: {signal: look}}
  look: {kind: tool, command: [grep, two, file], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	rehearse fixer --exit-on-wait
	local own branch=refs/heads/agent6/machine-fixer record
	record=$(echo "$SCRATCH"/dir/state/*/machines/fixer/workspace.json)
	own=$(tip fixer)
	refused() { # WORDS
		run rehearse fixer --exit-on-wait
		echo "$output"
		[[ $status -eq 2 && $output == *"$1"* ]]
	}
	local theirs
	git -C "$WS" update-ref $branch "$(git -C "$WS" -c user.name=op -c user.email=op@host commit-tree -m other main^{tree})"
	theirs=$(tip fixer)
	refused "this instance's last commit is ${own:0:12}; name what is there (git branch NAME ${theirs:0:12}) and \
move it back (git branch -f agent6/machine-fixer ${own:0:12})"
	git -C "$WS" branch -f agent6/machine-fixer "${own:0:12}"
	mv "$record" "$SCRATCH/record"
	refused "workspace.json of instance fixer, which says what is on its branch, cannot be used; bring it back"
	: >"$record"
	refused "workspace.json of instance fixer, which says what is on its branch, cannot be used; bring it back"
	# The journal came back from an older copy: the next step would begin with later ones' files.
	jq -c '.at = .next | .at.seq = 3 | .next = null' "$SCRATCH/record" >"$record"
	refused "workspace.json of instance fixer is of step 3, and its journal.jsonl ends at step 1"
	mv "$SCRATCH/record" "$record"
	mv "$WS/.git" "$SCRATCH/git"
	GIT_COMMITTER_DATE="1000000000 +0000" repository # another history, however fast this test is
	refused "there is no branch agent6/machine-fixer, and it cannot be made again after"
	rm -rf "$WS/.git"
	mv "$SCRATCH/git" "$WS/.git"
	git -C "$WS" update-ref -d $branch
	# A disk error would meet another instance, too, so the message does not suggest one.
	if [[ $(id -u) -eq 0 ]]; then
		# shellcheck disable=SC2016
		run unshare -m sh -ec 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"; shift; "$@"' _ "$WS/.git/objects" \
			"$AGENT6_BIN/agent6" machine rehearse --dir "$SCRATCH/dir" --exit-on-wait "$SCRATCH/fixer"
		echo "$output"
		[[ $status -eq 2 && $output == *": Read-only file system"* && $output != *"start anew"* ]]
	fi
	# A branch without a commit is no hindrance: the instance has its own.
	git -C "$WS" symbolic-ref HEAD refs/heads/nowhere
	(cd "$WS" && AGENT6_STATE_HOME=$SCRATCH/dir/state agent6 machine poke fixer)
	rehearse fixer
	[[ $(tip fixer) == "$own" ]]
}

@test "a clone of which a power failure left empty files is made anew" {
	repository
	coder fixer "  after: {kind: wait, on: {signal: look}}
  look: {kind: tool, command: [sh, -c, 'grep two file && git log --oneline'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	rehearse fixer --exit-on-wait --quiet
	local dir file
	dir=$(echo "$SCRATCH"/dir/state/*/machines/fixer)
	cp -r "$SCRATCH/dir" "$SCRATCH/parked"
	for file in HEAD config index refs/heads/agent6/machine-fixer; do
		rm -r "$SCRATCH/dir"
		cp -r "$SCRATCH/parked" "$SCRATCH/dir"
		: >"$dir/workspace/.git/$file"
		(cd "$WS" && AGENT6_STATE_HOME=$SCRATCH/dir/state agent6 machine poke fixer)
		rehearse fixer
	done
}

@test "what tool states write behind the last run state is on the branch; what a failed one writes is not" {
	repository
	coder fixer "  after: {kind: tool, command: [sh, -c, 'echo tidy >tidy; sed -i s/two/three/ file'], timeout_secs: 20, on: {ok: spoil, nonzero: bad, timeout: bad}}
  spoil: {kind: tool, command: [sh, -c, 'echo spoilt >spoilt; false'], timeout_secs: 20, on: {ok: bad, nonzero: look, timeout: bad}}
  look: {kind: tool, command: [cat, spoilt], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	local before
	before=$(operator "$WS")
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 && $(operator "$WS") == "$before" ]]
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer | tr '\n' ,) == "fixer: after,fixer: edit," ]]
	[[ $(git -C "$WS" log -1 --format=%B agent6/machine-fixer) == *"Agent6-State: after"*"Agent6-Step: fixer-2"* ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:file) == three && $(git -C "$WS" show agent6/machine-fixer:tidy) == tidy ]]
	[[ -z $(git -C "$WS" ls-tree agent6/machine-fixer spoilt) ]]
}

@test "a tool state that leaves what git does not take is nonzero, and the clone is as it was before" {
	repository
	coder fixer "  after: {kind: tool, command: [sh, -c, 'echo spoilt >file; echo x >git~1; exit \$(cat code)'], timeout_secs: 20, on: {ok: bad, nonzero: look, timeout: bad}}
  look: {kind: tool, command: [sh, -c, 'grep -x two file && ! test -e git~1 && echo 3 >code'], timeout_secs: 20, on: {ok: again, nonzero: bad, timeout: bad}}
  again: {kind: tool, command: [sh, -c, 'echo spoilt >file; echo x >git~1; exit 3'], timeout_secs: 20, on: {ok: bad, nonzero: last, timeout: bad}}
  last: {kind: tool, command: [grep, -x, two, file], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	step() { jq -r "select(.state == \"$1\" and .t == \"step\") | $2" "$SCRATCH"/dir/state/*/machines/fixer/journal.jsonl; }
	[[ $(step after '"\(.fact.exit) \(.label) \(.fact.reason)"') == "0 nonzero the state's changes to the clone cannot be kept: git add failed: "*"'git~1'"* ]]
	[[ $(step again '"\(.fact.exit) \(.label) \(.fact.not_kept)"') == "3 nonzero the state's changes to the clone cannot be kept: git add failed: "*"'git~1'"* ]]
	[[ $output == *"nonzero -> last"*"the state's changes to the clone cannot be kept: git add failed: "* ]]
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer | tr '\n' ,) == "fixer: look,fixer: edit," ]]
	(cd "$WS" && AGENT6_STATE_HOME=$SCRATCH/dir/state agent6 machine replay fixer)
}

@test "why no commit can be made is the failure's reason, whatever a file is called" {
	repository
	echo 'caf* filter=absent' >"$WS/.gitattributes"
	printf 'echo x >"caf\351"\n' >"$WS/verify.sh"
	git -C "$WS" add .gitattributes verify.sh
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm attributes
	coder fixer "$CHECK" <<<"{\"state\":\"edit\",\"reply\":{\"tool_calls\":[{\"name\":\"run_verify_command\",\"arguments\":{}}]}}
{\"state\":\"edit\",\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"done\"}}]}}"
	sed -i 's/verify_command: .*/verify_command: [sh, verify.sh]}}/' "$SCRATCH/fixer/machine.yaml"
	run rehearse fixer
	echo "$output"
	[[ $(jq -r 'select(.state == "edit" and .t == "step") | .fact.reason' "$SCRATCH"/dir/state/*/machines/fixer/journal.jsonl) == "caf"*" is changed, and .gitattributes gives it to the filter absent"* ]]
}

@test "a full disk is no failure of a run state: the machine stops, and room lets it go on" {
	need_root
	mkdir "$SCRATCH/dir"
	mount -t tmpfs -o size=24m,mode=700 tmpfs "$SCRATCH/dir"
	repository
	head -c 750000 /dev/urandom | base64 -w 0 >"$SCRATCH/text"
	jq -nc --rawfile text "$SCRATCH/text" '{state: "edit", match: {turn: 0}, reply: {tool_calls: [{name: "apply_edit", arguments: {path: "new", edits: [{kind: "create", new_string: $text}]}}]}}' >"$SCRATCH/tape"
	# Room for the transcript and the file, not for git's copy of it.
	coder fixer "  prep: {kind: tool, command: [sh, -c, 'head -c \$((\$(stat -f -c %a*%S .) - 2500000)) /dev/zero >pad'], timeout_secs: 20, on: {ok: edit, nonzero: bad, timeout: bad}}
  after: {kind: tool, command: [test, -s, new], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" prep <<<"$(cat "$SCRATCH/tape")
$FINISH"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 5 && $output == *"No space left on device"* ]]
	[[ $(grep -a '"}$' "$SCRATCH"/dir/state/*/machines/fixer/journal.jsonl | jq -r 'select(.t == "step") | .state' | tr '\n' ' ') == "prep " ]]
	mount -o remount,size=64m "$SCRATCH/dir"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:new | wc -c) -eq 1000000 ]]
}

@test "a run state that fails leaves nothing behind" {
	repository
	coder fixer "$CHECK" <<<"$EDITS
{\"state\":\"edit\",\"reply\":{\"status\":400,\"error\":\"no\"}}"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 1 && $output == *"undone"*"ok -> bad"* ]]
	[[ $(tip fixer) == $(git -C "$WS" rev-parse main) ]]
}

@test "killed in a run state, resumed: its edits are gone, and there is one commit" {
	repository
	coder fixer "$CHECK" <<<"$EDITS
${FINISH/\"reply\":\{/\"reply\":\{\"delay_ms\":50000,}"
	printf '%s\n' "$EDITS" "$FINISH" >"$SCRATCH/quick.jsonl"
	local before i
	before=$(operator "$WS")
	for i in 1 2; do
		rehearse fixer >/dev/null 2>&1 3>&- &
		local runner=$!
		edited() { grep -q "\"execution\":$i," "$SCRATCH"/dir/state/*/machines/fixer/states/1-edit/spend && cat "$SCRATCH"/dir/state/*/machines/fixer/workspace/new; }
		eventually edited
		kill -9 "$(cut -d' ' -f1 "$SCRATCH"/dir/state/*/machines/fixer/lock)"
		wait "$runner" || true
		let_go "$SCRATCH"/dir/state/*/machines/fixer
		[[ $(tip fixer) == $(git -C "$WS" rev-parse main) ]]
	done
	run rehearse fixer --cassette "$SCRATCH/quick.jsonl"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer) == "fixer: edit" ]]
	[[ $(operator "$WS") == "$before" ]]
}

@test "killed at random moments, git at work included: the same commits" {
	repository
	coder fixer "  after: {kind: tool, command: [sh, -c, 'echo made >>made'], timeout_secs: 20, on: {ok: more, nonzero: bad, timeout: bad}}
  more: {kind: agent, mode: run, prompt: More., output_schema: note, timeout_secs: 60, on: {ok: good, failed: bad, budget_exhausted: bad, timeout: bad}}" <<<"$EDITS
$FINISH
{\"state\":\"more\",\"reply\":{\"tool_calls\":[{\"name\":\"apply_edit\",\"arguments\":{\"path\":\"new\",\"edits\":[{\"kind\":\"replace\",\"old_string\":\"created\",\"new_string\":\"again\"}]}}]}}
{\"state\":\"more\",\"match\":{\"last\":\"new\"},\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"more\"}}]}}"
	local before kill
	before=$(operator "$WS")
	for ((kill = 0; kill < ${AGENT6_KILLS:-8}; kill++)); do
		set -m
		rehearse fixer >"$SCRATCH/output" 2>&1 3>&- &
		local group=$!
		set +m
		sleep "0.$(printf %03d $((300 + RANDOM % 700)))"
		kill -9 -- "-$group" 2>/dev/null || true
		wait "$group" || true
		let_go "$SCRATCH"/dir/state/*/machines/fixer
	done
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer | tr '\n' ,) == "fixer: more,fixer: after,fixer: edit," ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:made) == made && $(git -C "$WS" show agent6/machine-fixer:new) == again ]]
	[[ $(operator "$WS") == "$before" ]]
	git -C "$WS" fsck --strict
}

@test "killed between the journal and the branch, resumed: the commit lands" {
	repository
	coder fixer "  after: {kind: wait, on: {signal: good}}" <<<"$EDITS
$FINISH"
	rehearse fixer --exit-on-wait
	local landed
	landed=$(tip fixer)
	[[ $landed != $(git -C "$WS" rev-parse main) ]]
	# The state after a kill that followed the journal line, while git moved the branch.
	touch "$WS/.git/refs/heads/agent6/machine-fixer.lock"
	echo "$(git -C "$WS" rev-parse main)" >"$WS/.git/refs/heads/agent6/machine-fixer"
	run rehearse fixer --exit-on-wait
	echo "$output"
	[[ $status -eq 0 && $(tip fixer) == "$landed" ]]
}

@test "what a tool state wrote is there after a resume" {
	repository
	coder fixer "  after: {kind: tool, command: [sh, -c, 'echo kept >kept'], timeout_secs: 20, on: {ok: park, nonzero: bad, timeout: bad}}
  park: {kind: wait, every_secs: 1, on: {tick: look, signal: look}}
  look: {kind: tool, command: [sh, -c, 'cat kept new && grep two file'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	rehearse fixer --exit-on-wait
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
}

@test "what a failed attempt wrote is there for the next one, killed in between or not" {
	repository
	coder fixer "  after: {kind: tool, command: [sh, -c, 'test -e first || { echo >first; exit 1; }'], timeout_secs: 20, retry: {on: [nonzero], max: 1, backoff_secs: 10}, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	rehearse fixer >/dev/null 2>&1 3>&- &
	local runner=$!
	retried() { grep -aqF '"t":"retry"' "$SCRATCH"/dir/state/*/machines/fixer/journal.jsonl; }
	eventually retried
	kill -9 "$(cut -d' ' -f1 "$SCRATCH"/dir/state/*/machines/fixer/lock)"
	wait "$runner" || true
	let_go "$SCRATCH"/dir/state/*/machines/fixer
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $(git -C "$WS" log --format=%s main..agent6/machine-fixer | tr '\n' ,) == "fixer: after,fixer: edit," ]]
	git -C "$WS" ls-tree --name-only agent6/machine-fixer | grep -x first
}

@test "a directory of the repository, and a linked work tree" {
	mkdir -p "$SCRATCH/dir"
	repository "$SCRATCH/dir/workspace"
	git -C "$WS" worktree add -q -b side "$SCRATCH/linked"
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	mkdir "$SCRATCH/other"
	mv "$WS" "$SCRATCH/other/main"
	git -C "$SCRATCH/other/main" worktree repair "$SCRATCH/linked" 2>/dev/null
	mv "$SCRATCH/linked" "$WS"
	git -C "$SCRATCH/other/main" worktree repair "$WS" 2>/dev/null
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 && $(git -C "$SCRATCH/other/main" show agent6/machine-fixer:file) == two ]]
	[[ -z $(git -C "$WS" status --porcelain) ]]
	rm -r "$SCRATCH/dir"
	repository
	git -C "$SCRATCH/dir" init -q -b main
	rm -rf "$WS/.git"
	echo one >"$WS/file"
	git -C "$SCRATCH/dir" add workspace
	git -C "$SCRATCH/dir" -c user.name=op -c user.email=op@host commit -qm whole
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 && $(git -C "$SCRATCH/dir" show agent6/machine-fixer:workspace/file) == two ]]
}

@test "a submodule checkout: its commits are the submodule's" {
	repository "$SCRATCH/up"
	git -C "$SCRATCH/up" checkout -q -- file
	mkdir -p "$SCRATCH/dir"
	git -C "$SCRATCH/dir" init -q -b main
	git -C "$SCRATCH/dir" -c protocol.file.allow=always submodule add -q "$SCRATCH/up" workspace
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 && $(git -C "$WS" show agent6/machine-fixer:file) == two ]]
	[[ -z $(git -C "$WS" status --porcelain) ]]
	[[ -z $(git -C "$SCRATCH/dir" branch --list 'agent6/*') ]]
}

@test "refused at the start, with what to do" {
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	mkdir -p "$WS"
	run rehearse fixer
	[[ $status -eq 2 && $output == *"in no git repository"*"git init"* ]]
	git -C "$WS" init -q -b main
	run rehearse fixer
	echo "$output"
	[[ $status -eq 2 && $output == *"there is none; commit first"* ]]
	repository
	git -C "$WS" checkout -q -f -b agent6/machine-fixer
	rm -r "$SCRATCH/dir/state"
	coder fixer "  after: {kind: wait, on: {signal: good}}" <<<"$EDITS
$FINISH"
	run rehearse fixer --exit-on-wait
	echo "$output"
	[[ $status -eq 2 && $output == *"is checked out in $WS"*"switch to another branch"* ]]
	[[ $(git -C "$WS" rev-parse HEAD) == $(git -C "$WS" rev-parse main) ]]
	git -C "$WS" checkout -q main
	local other
	for other in agent6 agent6/machine-fixer/old; do
		git -C "$WS" branch -q -D agent6/machine-fixer || true
		git -C "$WS" branch -q $other
		run rehearse fixer --exit-on-wait
		echo "$output"
		[[ $status -eq 2 && $output == *"no branch agent6/machine-fixer beside the branch $other;"*"(git branch -m $other NAME)"* ]]
		git -C "$WS" branch -q -D $other
	done
	rehearse fixer --exit-on-wait
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm moved --allow-empty
	git -C "$WS" update-ref refs/heads/agent6/machine-fixer main
	run rehearse fixer --exit-on-wait
	echo "$output"
	[[ $status -eq 2 && $output == *"branch agent6/machine-fixer is at"*"move it back"* ]]
}

@test "what keeps git from the last commit is said, with what to do" {
	local commit
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	refused() { # WORDS...
		local words
		run rehearse fixer
		echo "$output"
		[[ $status -eq 2 ]]
		for words; do
			[[ $output == *"$words"* ]] || return 1
		done
		rm -rf "$WS"
	}
	repository
	commit=$(git -C "$WS" rev-parse main)
	rm -f "$WS/.git/objects/${commit:0:2}/${commit:2}"
	refused "cannot be read; \`git fsck\` there says more"
	repository
	git -C "$WS" config core.repositoryFormatVersion 1
	git -C "$WS" config extensions.noSuch true
	refused "unknown repository extension found: nosuch"
	[[ $output != *"commit first"* ]]
	repository "$SCRATCH/up"
	git clone -q -s "$SCRATCH/up" "$WS"
	refused "borrows objects from another repository" "\`git repack -a -d\` there"
	git -C "$SCRATCH/up" config uploadpack.allowFilter true
	git clone -q --no-checkout --filter=blob:none "file://$SCRATCH/up" "$WS"
	refused "is a partial clone" "\`git fetch --refetch --no-filter\` there" "unable to read"
	git clone -q --no-checkout --filter=blob:none "file://$SCRATCH/up" "$WS"
	git -C "$WS" fetch -q --refetch --no-filter
	rehearse fixer
}

@test "what a state puts where a submodule belongs is said, and is in no commit" {
	repository
	repository "$SCRATCH/part"
	git -C "$WS" -c protocol.file.allow=always submodule --quiet add "$SCRATCH/part" part
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm part
	coder fixer "  after: {kind: tool, command: [sh, -c, 'ls part | wc -l | grep 0 && echo x >x'], timeout_secs: 20, on: {ok: more, nonzero: bad, timeout: bad}}
  more: {kind: tool, command: [sh, -c, 'echo y >part/y'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 && $output != *"state after left"* ]]
	[[ $output == *"state more left 1 git repositories inside the workspace, or changes where a submodule belongs; they are in no commit"* ]]
	[[ $(git -C "$WS" diff --name-only main agent6/machine-fixer | tr '\n' ' ') == "file new x " ]]
}

@test "ignored files, links and odd names: what is committed and what is not" {
	repository
	printf 'ignored\n' >"$WS/.gitignore"
	git -C "$WS" add .gitignore
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm ignore
	mkdir -p "$SCRATCH/fixer/scripts"
	cat >"$SCRATCH/fixer/scripts/odd.sh" <<-'END'
		#!/bin/sh -e
		mkdir inner && echo x >inner/x
		echo x >ignored
		ln -s /etc/passwd link
		mkfifo pipe
		mkdir -p deep/er && printf x >"deep/er/-n *\"
		newline" && chmod +x "deep/er/-n *\"
		newline"
		rm file && mkdir file && echo x >file/x
	END
	chmod +x "$SCRATCH/fixer/scripts/odd.sh"
	coder fixer "  odd: {kind: tool, command: [scripts/odd.sh], timeout_secs: 20, on: {ok: edit, nonzero: bad, timeout: bad}}
  after: {kind: tool, command: [sh, -c, 'cat inner/x ignored new'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" odd <<<'{"state":"edit","reply":{"tool_calls":[{"name":"apply_edit","arguments":{"path":"new","edits":[{"kind":"create","new_string":"created\n"}]}}]}}
{"state":"edit","reply":{"tool_calls":[{"name":"finish_run","arguments":{"text":"done"}}]}}'
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	git -C "$WS" diff --no-renames --name-status -z main agent6/machine-fixer | tr '\0' ';' >"$SCRATCH/names"
	cat "$SCRATCH/names"
	[[ $(cat "$SCRATCH/names") == $'A;deep/er/-n *"\nnewline;D;file;A;file/x;A;inner/x;A;link;A;new;' ]]
	[[ $(git -C "$WS" ls-tree -r agent6/machine-fixer deep | cut -c1-6) == 100755 ]]
	[[ $(git -C "$WS" cat-file blob agent6/machine-fixer:link) == /etc/passwd ]]
}

@test "a directory that became a link, and what may not be read: both are committed" {
	repository
	mkdir "$WS/d"
	echo x >"$WS/d/f"
	git -C "$WS" add d
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm d
	coder fixer "  after: {kind: tool, command: [sh, -c, 'mv d e && ln -s e d && mkdir shut && echo s >shut/s && echo t >shut/t && chmod 0 shut/t shut && echo u >u && chmod 0 u'], timeout_secs: 20, on: {ok: again, nonzero: bad, timeout: bad}}
  again: {kind: tool, command: [sh, -c, 'rm d e/f && rmdir e && mkdir d && echo x >d/f && chmod 200 file'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	git -C "$WS" log --no-renames --format=%s --name-status main..agent6/machine-fixer | tr '\t\n' ' ,' >"$SCRATCH/names"
	cat "$SCRATCH/names"
	[[ $(cat "$SCRATCH/names") == \
		"fixer: again,,D d,A d/f,D e/f,fixer: after,,A d,D d/f,A e/f,A shut/s,A shut/t,A u,fixer: edit,,M file,A new," ]]
	git -C "$WS" fsck --strict
}

@test "what git would normalise is committed where a state has changed it, and not by itself" {
	repository
	local name
	for name in dos.txt 'two words.txt' $'caf\351.txt' changed.txt unix.txt mode.txt; do
		printf 'one\r\ntwo\r\n' >"$WS/$name"
	done
	printf '$Id: 123 $\n' >"$WS/id.c"
	git -C "$WS" add .
	printf '*.txt text\n*.c ident\n' >"$WS/.gitattributes"
	git -C "$WS" add .gitattributes
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm attributes
	# The contents come back as they were, and what has been there in between is not what stays.
	coder fixer "  after: {kind: tool, command: [sh, -c, 'touch id.c && sed -i s/one/two/ changed.txt && sed -i \"s/.\$//\" unix.txt && cp dos.txt old && echo new >dos.txt && chmod +x mode.txt'], timeout_secs: 20, on: {ok: back, nonzero: bad, timeout: bad}}
  back: {kind: tool, command: [sh, -c, 'mv old dos.txt'], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 0 ]]
	git -C "$WS" log --format=%s --name-status main..agent6/machine-fixer
	[[ $(git -C "$WS" log --format= --name-status main..agent6/machine-fixer | tr '\t\n' ' ,') == \
		"M dos.txt,D old,M changed.txt,M dos.txt,M mode.txt,A old,M unix.txt,M file,A new," ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:dos.txt) == $'one\ntwo' ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:unix.txt) == $'one\ntwo' ]]
}

@test "a start that is refused leaves no branch, and the next begins at HEAD" {
	repository
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	sed -i '/^  after:/s/timeout_secs/secrets: [none], &/' "$SCRATCH/fixer/machine.yaml"
	run rehearse fixer
	echo "$output"
	[[ $status -eq 2 && $output == *"state after"*none* ]]
	[[ -z $(git -C "$WS" for-each-ref refs/heads/agent6) ]]
	sed -i 's/secrets: \[none\], //' "$SCRATCH/fixer/machine.yaml"
	git -C "$WS" -c user.name=op -c user.email=op@host commit -qm moved --allow-empty
	rehearse fixer
	[[ $(git -C "$WS" rev-parse agent6/machine-fixer~1) == "$(git -C "$WS" rev-parse main)" ]]
}

@test "a clone of the repository that agent6 was built in can be built in" {
	repository
	mkdir -p "$WS/build/bin"
	cp "$AGENT6_BIN"/agent6* "$WS/build/bin"
	coder fixer "$CHECK" <<<"$EDITS
$FINISH"
	sed -i 's|verify_command: .cat, file.|verify_command: [sh, -c, "mkdir -p build/bin; echo x >build/bin/agent6; cat file new"]|' "$SCRATCH/fixer/machine.yaml"
	sed -i '1s|]}}$|,{"name":"run_verify_command","arguments":{}}]}}|' "$SCRATCH/fixer/rehearsal/a.jsonl"
	run "$WS/build/bin/agent6" machine rehearse --dir "$SCRATCH/dir" "$SCRATCH/fixer"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $(git -C "$WS" show agent6/machine-fixer:build/bin/agent6) == x ]]
	cmp "$AGENT6_BIN/agent6" "$WS/build/bin/agent6"
}

@test "what its commits change of what programs on the host run is told, as long as it differs" {
	repository
	coder autorun "  after: {kind: tool, command: [sh, -c, 'mkdir .husky && echo x >.husky/pre-commit && echo x >.envrc'], timeout_secs: 20, on: {ok: again, nonzero: bad, timeout: bad}}
  again: {kind: tool, command: [rm, .envrc], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}" <<<"$EDITS
$FINISH"
	run rehearse autorun
	echo "$output"
	[[ $status -eq 0 && $output == *".husky/pre-commit, made: husky"* && $output != *.envrc,* ]]
	journal_of=$(echo "$SCRATCH"/dir/state/*/machines/autorun/journal.jsonl)
	grep -a '"}$' "$journal_of" | jq -se '.[-2] | .t == "autorun" and .branch == "agent6/machine-autorun" and
		[.files[].path] == [".husky/pre-commit"]'
}

# One call per file; the second state has to find what the first has committed.
create() { # STATE MATCH PATH...
	local state=$1 match=$2 calls=()
	shift 2
	for path; do
		calls+=("{\"name\":\"apply_edit\",\"arguments\":{\"path\":\"$path\",\"edits\":[{\"kind\":\"create\",\"new_string\":\"x\\n\"}]}}")
	done
	printf '{"state":"%s","match":%s,"reply":{"tool_calls":[%s]}}\n' "$state" "$match" "$(IFS=,; echo "${calls[*]}")"
}

@test "no commit makes a git directory: not by edits alone, nor in two states" {
	repository
	coder bare "  after:
    kind: agent
    mode: run
    prompt: More.
    output_schema: note
    timeout_secs: 60
    on: {ok: good, failed: undone, budget_exhausted: bad, timeout: bad}" <<<"$(create edit '{"turn":0}' d/HEAD d/config d/objects/k)
{\"state\":\"edit\",\"match\":{\"turn\":1},\"reply\":{\"tool_calls\":[{\"name\":\"finish_run\",\"arguments\":{\"text\":\"done\"}}]}}
$(create after '{"turn":0}' d/more d/refs/k d/never)"
	sed -i 's/test "$(cat file)" = one/test ! -e d\/more -a ! -e d\/refs -a -e d\/HEAD/' "$SCRATCH/bare/machine.yaml"
	run rehearse bare
	echo "$output"
	[[ $status -eq 1 && $output == *"after"*"failed"*"d/refs/k would complete a git directory"*"AGENT6_MACHINE_DATA_DIR"* ]]
	[[ $output != *worse* ]]
	[[ $(git -C "$WS" ls-tree -r --name-only agent6/machine-bare | paste -sd,) == d/HEAD,d/config,d/objects/k,file ]]
}

@test "no commit makes a git directory: not what a command left in the clone" {
	repository
	coder tool "  after: {kind: tool, command: [sh, -c, 'mkdir -p d/objects d/refs && echo x | tee d/HEAD d/config d/objects/k >d/refs/k'], timeout_secs: 20, on: {ok: worse, nonzero: undone2, timeout: bad}}
  undone2: {kind: tool, command: [test, '!', -e, d/HEAD], timeout_secs: 20, on: {ok: good, nonzero: worse, timeout: worse}}" <<<"$EDITS
$FINISH"
	run rehearse tool
	echo "$output"
	[[ $status -eq 0 && $output == *"2  after "*nonzero* ]]
	[[ -z $(git -C "$WS" ls-tree -r --name-only agent6/machine-tool | grep '^d/') ]]
}

@test "no commit holds another spelling of .git" {
	repository
	coder spelt "  after: {kind: tool, command: [sh, -c, 'mkdir -p git~1 && echo x >git~1/config'], timeout_secs: 20, on: {ok: worse, nonzero: dots, timeout: bad}}
  dots: {kind: tool, command: [sh, -c, 'mkdir -p \"a/.git .\" && echo x >\"a/.git ./config\"'], timeout_secs: 20, on: {ok: worse, nonzero: joined, timeout: bad}}
  joined: {kind: tool, command: [python3, -c, 'import os; os.makedirs(\"b/.g\\u200cit\"); open(\"b/.g\\u200cit/config\", \"w\").write(\"x\")'], timeout_secs: 20, on: {ok: worse, nonzero: gone, timeout: bad}}
  gone: {kind: tool, command: [sh, -c, 'test ! -e git~1 && test ! -e a && test -z \"\$(ls -A b 2>/dev/null)\"'], timeout_secs: 20, on: {ok: good, nonzero: worse, timeout: worse}}" <<<"$EDITS
$FINISH"
	run rehearse spelt
	echo "$output"
	[[ $status -eq 0 ]]
}
