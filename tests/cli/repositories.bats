#!/usr/bin/env bats
# `agent6 jail` in each layout of a git repository: what a command sees of it, and cannot change.

load ../kit/common

setup() {
	need git
	export AGENT6_STATE_HOME=$SCRATCH/state XDG_CONFIG_HOME=$SCRATCH/config
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	main=$SCRATCH/main
	git init -q "$main"
	echo text >"$main/file"
	mkdir "$main/sub"
	echo below >"$main/sub/file"
	git -C "$main" add .
	git -C "$main" commit -qm first
}

# The commands of the attack, in the directory $1: nothing of the repository changes, all of it can be read.
reads_and_holds() { # DIR GIT-DIR
	cd "$1"
	run agent6 jail -- sh -c "git log --oneline; echo evil >>'$2/config'; echo evil >.git/config; rm -rf .git; mv .git away
		git config core.fsmonitor ./evil; git -c core.fsmonitor= status --short; true"
	echo "$output"
	[[ $status -eq 0 && $output == *" first"* ]]
	! grep -rqs evil "$2/config" "$main/.git/config" .git || return
	git status >/dev/null
	run agent6 jail --explain
	[[ $output == *"$2"* ]]
}

@test "a linked work tree's repository can be read, and holds" {
	git -C "$main" worktree add -q "$SCRATCH/linked"
	reads_and_holds "$SCRATCH/linked" "$main/.git"
}

@test "a submodule's repository can be read, and holds" {
	git init -q "$SCRATCH/super"
	git -C "$SCRATCH/super" -c protocol.file.allow=always submodule --quiet add "$main" part
	reads_and_holds "$SCRATCH/super/part" "$SCRATCH/super/.git/modules/part"
	run agent6 jail -- ls "$SCRATCH/super"
	[[ $output != *.gitmodules* ]]
}

@test "a repository that lies elsewhere can be read, and holds" {
	git clone -q --separate-git-dir="$SCRATCH/kept" "$main" "$SCRATCH/work"
	reads_and_holds "$SCRATCH/work" "$SCRATCH/kept"
}

@test "of a repository whose objects are borrowed the objects can be read" {
	git clone -q --shared "$main" "$SCRATCH/shared"
	git clone -q --shared "$SCRATCH/shared" "$SCRATCH/again"
	reads_and_holds "$SCRATCH/again" "$main/.git/objects"
	run agent6 jail -- cat "$main/.git/config"
	[[ $status -ne 0 ]]
}

@test "what only claims to be a repository's is not shown" {
	mkdir -p "$SCRATCH/private/objects" "$SCRATCH/odd" "$SCRATCH/plain"
	echo secret >"$SCRATCH/private/key"
	echo "gitdir: ../private" >"$SCRATCH/odd/.git"
	cd "$SCRATCH/odd"
	run agent6 jail -- ls "$SCRATCH/private"
	[[ $status -ne 0 && $output != *key* ]]
	git init -q "$SCRATCH/plain"
	printf '%s\n' "$SCRATCH/private" "$SCRATCH/private/objects" >"$SCRATCH/plain/.git/objects/info/alternates"
	cd "$SCRATCH/plain"
	run agent6 jail -- sh -c "ls '$SCRATCH/private' '$SCRATCH/private/objects'"
	[[ $status -ne 0 && $output != *key* ]]
}

@test "of a repository around the workspace nothing is shown, and it is said what to grant" {
	cd "$main/sub"
	run agent6 jail -- sh -c "mkdir .git; ls '$main/.git' ; ls -A"
	[[ $status -eq 0 && $output == *"No such file"* && ! -e .git ]]
	run agent6 jail --explain
	[[ $output == *"of the repository $main nothing else is shown; sandbox.read: [$main/.git] grants its history, which git finds with GIT_DISCOVERY_ACROSS_FILESYSTEM=1"* ]]
	run agent6 jail --read "$main/.git" -- env GIT_DISCOVERY_ACROSS_FILESYSTEM=1 git log --oneline
	echo "$output"
	[[ $status -eq 0 && $output == *" first" ]]
}

@test "a bare repository is read-only as a whole" {
	git clone -q --bare "$main" "$SCRATCH/bare"
	cd "$SCRATCH/bare"
	run agent6 jail -- sh -c 'git log --oneline; echo evil >>config; echo evil >commondir; touch x; true'
	[[ $status -eq 0 && $output == *" first"* && ! -e x && ! -e commondir ]]
	! grep -q evil config
}

@test "a command that makes a repository fails, and what it made is moved aside" {
	mkdir "$SCRATCH/none"
	cd "$SCRATCH/none"
	run agent6 jail -- git init -q sub
	[[ $status -eq 1 && $output == *"it made a repository; /tmp is where one may be made: $PWD/sub/.git, now $SCRATCH/state/"*"/aside/1/moved"* ]]
	[[ ! -e sub/.git ]]
	run agent6 jail -- sh -c 'git init -q sub; exit 7'
	[[ $status -eq 7 && ! -e sub/.git ]]
}

@test "the empty .git of a running command does not change which repository a directory belongs to" {
	cd "$main/sub"
	agent6 jail -- sh -c 'touch ready; while [ -e ready ]; do sleep 0.05; done' &
	local jail=$!
	eventually test -e ready
	[[ -d .git ]]
	agent6 jail -- true
	[[ -d .git ]]
	rm ready
	wait "$jail"
	[[ ! -e .git && $(ls "$SCRATCH/state") == main-* && $(ls "$SCRATCH/state" | wc -l) -eq 1 ]]
}

# The stock review's first state, as a run starts it, in the work tree $1, whose base is the branch $2.
review_counts() { # TREE BASE
	(cd "$SCRATCH" && agent6 machine new review --from review)
	cd "$1"
	git checkout -q -b change
	echo more >>file
	git commit -qam second
	run --separate-stderr agent6 jail --read-only --read "$SCRATCH/review" -- sh "$SCRATCH/review/scripts/changes.sh" "$2"
	echo "$output$stderr"
	[[ $status -eq 0 && $output == '{"files":1,"diff":"diff --git a/file b/file'* && $output == *+more* ]]
}

@test "the stock review counts what changed in a linked work tree" {
	git -C "$main" worktree add -q "$SCRATCH/linked"
	review_counts "$SCRATCH/linked" "$(git -C "$main" branch --show-current)"
}

@test "the stock review counts what changed in a submodule checkout" {
	git init -q "$SCRATCH/super"
	git -C "$SCRATCH/super" -c protocol.file.allow=always submodule --quiet add "$main" part
	review_counts "$SCRATCH/super/part" "$(git -C "$SCRATCH/super/part" branch --show-current)"
}

@test "a jail in a directory that was reached through a link says which path its command finds" {
	ln -s "$main" "$SCRATCH/link"
	cd "$SCRATCH/link/sub"
	run --separate-stderr agent6 jail -- sh -c 'pwd; ls "$0"' "$SCRATCH/link/sub"
	[[ $status -ne 0 && $output == "$main/sub" ]]
	[[ $stderr == *"the workspace is $main/sub, and commands find it by this path alone; $SCRATCH/link/sub leads there through a link"* ]]
	run agent6 jail --explain
	[[ $status -eq 0 && $output == *"$SCRATCH/link/sub leads there through a link"* ]]
	cd "$main/sub"
	run --separate-stderr agent6 jail -- pwd
	[[ $status -eq 0 && $output == "$main/sub" && -z $stderr ]]
}
