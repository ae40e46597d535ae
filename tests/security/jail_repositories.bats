# Repositories that a command makes or changes: what the user's git would execute on the host.
load jail

setup() {
	jail_setup
	need git
	rmdir "$WS/.git" 2>/dev/null || rm -r "$WS/.git"
	ASIDE=$SCRATCH/aside
	HELD=("aside=\"$ASIDE\"")
}

# Both kinds of user; the words of $1 are executed with RUNNER set to each.
as_both() {
	RUNNER=user_jail
	"$@"
	[[ $(id -u) -eq 0 ]] || return 0
	find "$WS" -mindepth 1 -delete
	rm -rf "$ASIDE"
	chown root: "$WS"
	RUNNER=jail
	"$@"
}

held() { # [FIELDS...] -- CMD...
	run "$RUNNER" "${HELD[@]}" "$@"
}

planted() {
	status '.planted[]?.path' | sort
}

plant_top() {
	held -- sh -c 'mkdir .git; echo evil >.git/config; mv sub .git; ls -A'
	echo "$output"
	[[ $status -eq 0 && $output == *"File exists"* && ${lines[-1]} == .git ]]
	[[ ! -e $WS/.git && -z $(planted) ]]
	held -- git init
	[[ $status -ne 0 && ! -e $WS/.git ]]
	# A directory whose mode its owner could change is no way around.
	if [[ $RUNNER == user_jail ]]; then
		as_user chmod 555 "$WS"
		held -- sh -c 'chmod 755 .; mkdir .git && echo evil >.git/config'
		as_user chmod 755 "$WS"
		[[ ! -e $WS/.git ]]
	fi
}

@test "no repository can be made at the top of a workspace that has none" {
	as_both plant_top
}

plant_below() {
	held -- sh -c 'git init -q sub/deep; git init -q --bare bare; git init -q --separate-git-dir=hidden tree
		mkdir -p linked file hg jj upper other/objects other/refs alone
		ln -s ../bare linked/.git; echo "gitdir: ../bare" >file/.git; mkdir hg/.hg jj/.jj upper/.GIT
		echo "ref: refs/heads/x" | tee HEAD other/HEAD >alone/HEAD; echo x >commondir
		chmod 0 sub/deep/.git/config; chmod 500 sub/deep/.git sub/deep'
	echo "$output"
	[[ $status -eq 0 ]]
	diff <(planted) <(sort <<-END
		$WS/HEAD
		$WS/bare/HEAD
		$WS/file/.git
		$WS/hg/.hg
		$WS/hidden/HEAD
		$WS/jj/.jj
		$WS/linked/.git
		$WS/other/HEAD
		$WS/sub/deep/.git
		$WS/upper/.GIT
		$WS/tree/.git
	END
	)
	[[ -e $WS/alone/HEAD && ! -e $WS/HEAD && ! -e $WS/bare/HEAD && $(status '.left') == null ]]
	[[ -z $(find "$WS" -iname .git -o -name .hg -o -name .jj) ]]
	# Moved, not deleted, and nobody stands in it by chance.
	local moved
	moved=$(status '.planted[] | select(.path | endswith("deep/.git")).to')
	[[ $moved == "$ASIDE"/*/moved && $(stat -c %a "$moved") == 0 && $(stat -c %a "$WS/sub/deep") == 500 ]]
	chmod 700 "$moved"
	[[ -e $moved/HEAD && -d $moved/objects ]]
}

@test "what a command makes a repository anywhere else is moved aside" {
	as_both plant_below
}

change_found() {
	git init -q "$WS/sub"
	git init -q "$WS/wide/own"
	git init -q --separate-git-dir="$WS/dir" "$WS/other"
	git init -q --bare "$WS/bare"
	mkdir "$WS/link"
	ln -s ../bare "$WS/link/.git"
	echo "gitdir: ../bare" >"$WS/own"
	mkdir -p "$WS/file"
	mv "$WS/own" "$WS/file/.git"
	[[ $RUNNER == jail ]] || chown -R "$TEST_USER:" "$WS"
	held -- sh -c 'for file in sub/.git/config sub/.git/hooks/post-commit other/.git file/.git dir/config bare/config bare/new; do
			echo evil >>$file && echo "wrote $file"; done
		for path in sub/.git sub link/.git link file/.git file other/.git dir bare wide wide/own; do
			perl -e "rename(shift, q(away)) and print qq(moved\n)" $path; rm -rf $path 2>/dev/null && echo "removed $path"; done
		ln -sfn ../evil link/.git && echo "linked"
		git -C sub status --short >/dev/null || echo "cannot be read"'
	echo "$output"
	[[ $status -eq 0 && $output != *wrote* && $output != *moved* && $output != *removed* && $output != *linked* ]]
	[[ $output != *"cannot be read"* && -z $(planted) ]]
	! grep -rq evil "$WS" || return
	[[ $(readlink "$WS/link/.git") == ../bare && -e $WS/bare/HEAD ]]
}

@test "every repository that is found holds, and so do the directories above it" {
	as_both change_found
}

@test "a workspace that is a repository itself holds as a whole" {
	git init -q --bare "$WS"
	RUNNER=user_jail
	held -- sh -c 'echo evil >>config; echo /tmp >commondir; mkdir hooks; rm HEAD; git log; true'
	[[ $status -eq 0 && ! -e $WS/commondir && -e $WS/HEAD && ! -e $WS/.git ]]
	! grep -q evil "$WS/config"
}

@test "a repository that a person made in the place of the empty one stays" {
	jail "${HELD[@]}" -- sh -c 'touch ready; while [ -e ready ]; do sleep 0.05; done; echo evil >>.git/config' &
	local jail=$!
	eventually test -e "$WS/ready"
	git init -q "$WS"
	rm "$WS/ready"
	wait "$jail" || true
	[[ -e $WS/.git/HEAD && -z $(planted) ]]
	! grep -q evil "$WS/.git/config"
}

@test "jails in one workspace share the empty .git, the last removes it, and so does the next after a kill" {
	local jails=() i
	for i in 1 2 3; do
		jail "${HELD[@]}" -- sh -c "touch ready$i; while [ -e ready$i ]; do sleep 0.05; done; mkdir .git; true" &
		jails+=($!)
		eventually test -e "$WS/ready$i"
	done
	for i in 1 2 3; do
		[[ -d $WS/.git ]]
		rm "$WS/ready$i"
		wait "${jails[$((i - 1))]}"
	done
	[[ ! -e $WS/.git ]]
	# bats' own background job is a shell: the launcher is what is killed.
	policy "${HELD[@]}" -- sh -c 'touch ready; exec sleep 100' >"$SCRATCH/policy.json"
	"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" &
	jails=($!)
	eventually test -e "$WS/ready"
	kill -KILL "${jails[0]}"
	wait "${jails[0]}" || true
	[[ -d $WS/.git && -z $(ls -A "$WS/.git") ]]
	RUNNER=jail
	held -- true
	[[ $status -eq 0 && ! -e $WS/.git ]]
}

@test "repositories may be made where the policy says so" {
	mkdir "$SCRATCH/data"
	give_user "$SCRATCH/data"
	RUNNER=user_jail
	held "write=[\"$SCRATCH/data\"]" "repositories=[\"$SCRATCH/data\"]" -- sh -c "git init -q '$SCRATCH/data/new' && git init -q /tmp/new"
	[[ $status -eq 0 && -z $(planted) && -e $SCRATCH/data/new/.git/HEAD ]]
	held "write=[\"$SCRATCH/data\"]" -- sh -c "git init -q '$SCRATCH/data/more'"
	[[ $(planted) == "$SCRATCH/data/more/.git" ]]
	# A repository that a grant names itself has been granted by the operator.
	git init -q --bare "$SCRATCH/mirror"
	give_user "$SCRATCH/mirror"
	held "write=[\"$SCRATCH/mirror\"]" -- git --git-dir="$SCRATCH/mirror" config some.key value
	[[ $status -eq 0 && -z $(planted) ]]
}

cut_short() {
	held -- sh -c "$1"
	[[ $status -eq 0 && $(status .left) == *"$2"*"cannot be searched"* ]] || return
	held -- touch ran
	echo "$output"
	[[ $status -eq 125 && $(status .stage) == layout && $(status .error) == *"$2"*"cannot be searched"* && ! -e $WS/ran ]]
}

@test "what cannot be searched ends with the command, and no other begins" {
	RUNNER=user_jail
	cut_short 'mkdir -p shut/sub; git init -q shut/sub; chmod 0 shut' "$WS/shut"
	chmod 700 "$WS/shut"
	rm -rf "$WS/shut"
	cut_short 'perl -e "for (1 .. 140) { mkdir q(d); chdir q(d) }"' "$WS/d"
}

@test "a repository that cannot be moved aside ends what serves commands" {
	mkdir "$SCRATCH/none"
	HELD=("aside=\"$SCRATCH/none/missing/aside\"")
	RUNNER=jail
	held -- git init -q sub
	[[ $status -eq 0 && $(status .left) == "$WS/sub/.git cannot be moved aside: "* && $(status .stuck) == true ]]
}

@test "a hidden path that became a link keeps nothing from being found" {
	echo key >"$WS/.env"
	mkdir "$WS/secret"
	git init -q "$WS/secret/own"
	give_user "$WS"
	RUNNER=user_jail
	held "hide=[\"$WS/none\",\"$WS/secret\"]" -- sh -c 'ln -s .env none; git init -q sub'
	[[ $status -eq 0 && $(planted) == "$WS/sub/.git" && -e $WS/secret/own/.git/HEAD ]]
}

@test "a repository goes to another file system whole" {
	need_root
	mkdir "$SCRATCH/far"
	RUNNER=jail
	HELD=("aside=\"$SCRATCH/far/aside\"")
	far_away() {
		unshare --mount --propagation private sh -c 'mount -t tmpfs none "$0/far" && "$@" && cp -a "$0/far" "$0/kept"' "$SCRATCH" "$@"
	}
	run run_jail far_away "${HELD[@]}" -- sh -c 'git init -q sub; ln -s x sub/.git/link; chmod 0 sub/.git/config sub/.git/refs'
	echo "$output"
	[[ $status -eq 0 && ! -e $WS/sub/.git && $(planted) == "$WS/sub/.git" ]]
	chmod -R u+rwX "$SCRATCH/kept"
	[[ -e $SCRATCH/kept/aside/1/moved/HEAD && $(readlink "$SCRATCH/kept/aside/1/moved/link") == x ]]
}

@test "hardened: what a command makes a repository is moved aside all the same" {
	need_hardened
	RUNNER=user_jail
	HELD+=('profile="hardened"')
	held -- sh -c 'git init -q; git init -q sub'
	[[ $status -eq 0 && $(planted) == "$WS/.git"$'\n'"$WS/sub/.git" && ! -e $WS/.git && ! -e $WS/sub/.git ]]
}

# A workspace of each layout, made by git; READ is what the engine would grant of one that lies elsewhere.
make_layout() { # NAME
	chmod -R u+rwX "$SCRATCH/lay" 2>/dev/null || true
	rm -rf "$SCRATCH/lay" "$ASIDE" "$SCRATCH/ran"
	mkdir -p "$SCRATCH/lay/main/sub"
	WS=$SCRATCH/lay/main
	READ=
	local git=(git -c user.name=a -c user.email=a@b -c protocol.file.allow=always -C "$WS")
	[[ $1 != none ]] || return 0
	"${git[@]}" init -q
	touch "$WS/file" "$WS/sub/file"
	"${git[@]}" add .
	"${git[@]}" commit -qm first
	case $1 in
	part)
		WS=$WS/sub
		;;
	linked)
		"${git[@]}" worktree add -q "$SCRATCH/lay/linked"
		READ=$WS/.git WS=$SCRATCH/lay/linked
		;;
	submodule)
		git clone -q "$WS" "$SCRATCH/lay/super"
		git -C "$SCRATCH/lay/super" -c protocol.file.allow=always submodule --quiet add "$WS" part
		READ=$SCRATCH/lay/super/.git/modules/part WS=$SCRATCH/lay/super/part
		;;
	bare)
		git clone -q --bare "$WS" "$SCRATCH/lay/bare"
		WS=$SCRATCH/lay/bare
		;;
	esac
}

# Every way to have git on the host run what the command wrote, in the workspace and below it.
write_attack() {
	cat >"$SCRATCH/attack" <<-'END'
		exec 2>/dev/null
		evil() { printf '[core]\n\trepositoryformatversion = 0\n\tbare = %s\n\tfsmonitor = "touch %s; false"\n' "$1" "$RAN"; }
		mkdir -p new/er
		for dir in . sub new new/er; do
			for config in "$REAL/config" "$dir/.git/config" "$dir/config"; do
				evil false >>"$config"
			done
			(cd "$dir" && git config core.fsmonitor "touch $RAN; false")
			mv "$dir/.git" "$dir/away"
			rm -rf "$dir/.git"
			git init -q "$dir"
			evil false >>"$dir/.git/config"
			git init -q --separate-git-dir="$dir/hidden" "$dir" || echo "gitdir: hidden" >"$dir/.git"
			evil false >>"$dir/hidden/config"
			mkdir -p "$dir/objects" "$dir/refs"
			echo "ref: refs/heads/evil" >"$dir/HEAD"
			evil false >"$dir/config"
			echo hidden >"$dir/commondir"
		done
		exit 0
	END
	chmod a+r "$SCRATCH/attack"
}

# Enters every directory as its owner, like a prompt or a person.
enter_all() {
	local as=env
	[[ $RUNNER == jail ]] || as=as_user
	$as env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' sh -c '
		for dir in "$0" "$0"/sub "$0"/new "$0"/new/er "$0"/away "$0"/hidden "$0"/sub/hidden; do
			timeout 10 git -C "$dir" status
		done' "$WS" >/dev/null 2>&1 || true
}

execute_nothing() { # PROFILE LAYOUT...
	local layout real profile=$1
	write_attack
	for layout in "${@:2}"; do
		make_layout "$layout"
		real=${READ:-$WS/.git}
		if [[ $RUNNER == user_jail ]]; then # outside of a jail it works, or nothing would be shown
			chown -R "$TEST_USER:" "$SCRATCH/lay"
			(cd "$WS" && RAN=$SCRATCH/ran REAL=$real as_user sh "$SCRATCH/attack")
			enter_all
			[[ -e $SCRATCH/ran ]] || { echo "$layout: the attack does nothing"; return 1; }
			make_layout "$layout"
			chown -R "$TEST_USER:" "$SCRATCH/lay"
		fi
		HELD=("aside=\"$ASIDE\"" "profile=\"$profile\"" "read=[\"$SCRATCH/attack\"${READ:+,\"$READ\"}]"
			"env={\"RAN\":\"$SCRATCH/ran\",\"REAL\":\"$real\"}")
		held -- sh "$SCRATCH/attack"
		echo "$layout, $profile, $RUNNER: $status $output"
		[[ $status -eq 0 && $(status .left) == null ]]
		enter_all
		[[ ! -e $SCRATCH/ran ]]
	done
}

@test "in every layout git on the host executes nothing of what a command planted" {
	RUNNER=user_jail
	execute_nothing strict plain none part linked submodule bare
	[[ $(id -u) -ne 0 ]] || RUNNER=jail execute_nothing strict plain none part linked submodule bare
}

@test "hardened: the same where the workspace has no .git of its own" {
	need_hardened
	RUNNER=user_jail
	execute_nothing hardened none part bare
}
