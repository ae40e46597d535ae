#!/usr/bin/env bats
# The profile that a start chooses for each sandbox.profile on this host.

load ../kit/common
load machine

setup() {
	need jq
	live_setup
	mkdir -p "$SCRATCH/config/agent6"
	tool_machine tool "[sh, -c, 'cat /etc/shadow; echo x >/usr/x; echo done']"
}

profile() { # NAME
	echo "sandbox: {profile: $1}" >"$SCRATCH/config/agent6/config.yaml"
}

# Sets up a start by an ordinary user, who owns its files.
user_setup() {
	give_user "$SCRATCH"
	cat >"$SCRATCH/go" <<END
#!/bin/sh
cd "$SCRATCH/ws" && AGENT6_STATE_HOME="$SCRATCH/state" XDG_CONFIG_HOME="$SCRATCH/config" exec "$AGENT6_BIN/agent6" "\$@"
END
	chmod 755 "$SCRATCH/go"
}

# In a user namespace in which nobody may make another one.
without_userns() {
	as_user unshare --user --map-current-user --keep-caps sh -c \
		'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"' sh "$@"
}

@test "auto and strict begin strict, hardened begins hardened, and the journal says which" {
	user_setup
	local name want
	for name in auto strict hardened; do
		[[ $name != hardened ]] || need_hardened
		want=strict
		[[ $name != hardened ]] || want=hardened
		profile "$name"
		run as_user "$SCRATCH/go" machine run --id "$name" "$SCRATCH/tool"
		echo "$output"
		[[ $status -eq 0 ]]
		[[ $(journal "$name" | jq -r 'select(.t == "begin") | .profile') == "$want" ]]
		[[ $(fact "$name" .stdout) == done ]]
	done
}

@test "hardened as root needs to be told that commands run as root" {
	need_hardened
	need_root
	profile hardened
	run go tool
	echo "$output"
	[[ $status -eq 125 && $output == *"owns $SCRATCH/ws,"*"ordinary user"* ]]
	go tool --allow-root-jail
	[[ $(journal tool | jq -c 'select(.t == "begin") | .overrides') == '["allow-root","allow-root-jail"]' ]]
	# In a user's directory they run as that user, and nobody has to say so.
	give_user "$SCRATCH/ws"
	tool_machine users "[id, -u]"
	go users
	[[ $(fact users .stdout) == "$(id -u agent6-test)" ]]
}

@test "root of a namespace is told once why there is no jail" {
	need_root
	local verb
	for verb in "machine run $SCRATCH/tool" 'jail -- true'; do
		run unshare --user --map-root-user "$AGENT6_BIN/agent6" $verb
		echo "$output"
		[[ $status -eq 125 && $(grep -o 'cannot give its command another id' <<<"$output" | wc -l) -eq 1 ]]
		[[ $output != *"trying the hardened profile"* ]]
	done
}

@test "hardened refuses at the start to hide what commands could read" {
	need_hardened
	user_setup
	mkdir "$SCRATCH/elsewhere"
	touch "$SCRATCH/ws/.env" "$SCRATCH/elsewhere/key"
	hiding() { # PROFILE PATH
		echo "sandbox: {profile: $1, hide: [$2]}" >"$SCRATCH/config/agent6/config.yaml"
		rm -rf "$SCRATCH/state"
		run as_user "$SCRATCH/go" machine run "$SCRATCH/tool"
		echo "$output"
	}
	hiding hardened "$SCRATCH/ws/.env"
	[[ $status -eq 2 && $output == *"ws/.env is to be hidden"*"sandbox.profile strict"* ]]
	[[ ! -s $(instance tool)/journal.jsonl ]]
	hiding hardened /usr/share/common-licenses
	[[ $status -eq 2 && $output == *"/usr/share/common-licenses is to be hidden"* ]]
	hiding hardened /etc/passwd
	[[ $status -eq 2 && $output == *"/etc/passwd is to be hidden"* ]]
	hiding strict "$SCRATCH/ws/.env"
	[[ $status -eq 0 ]]
	hiding hardened "$SCRATCH/elsewhere/key"
	[[ $status -eq 0 ]]
}

@test "what is hidden or protected by the name of a link is held where the link leads" {
	need_hardened
	mkdir "$SCRATCH/ws/kept"
	echo secret >"$SCRATCH/ws/.env"
	ln -s ws "$SCRATCH/link"
	ln -s ws/kept "$SCRATCH/held"
	tool_machine tool "[sh, -c, 'test ! -s .env && ! touch kept/made']"
	user_setup
	echo "sandbox: {hide: [$SCRATCH/link/.env], protect: [$SCRATCH/held]}" >"$SCRATCH/config/agent6/config.yaml"
	run as_user "$SCRATCH/go" machine run --id strict "$SCRATCH/tool"
	echo "$output"
	[[ $status -eq 0 && $(fact strict .exit) -eq 0 ]]
	echo "sandbox: {profile: hardened, hide: [$SCRATCH/link/.env]}" >"$SCRATCH/config/agent6/config.yaml"
	run as_user "$SCRATCH/go" machine run --id hardened "$SCRATCH/tool"
	echo "$output"
	[[ $status -eq 2 && $output == *"/ws/.env is to be hidden"* ]]
}

@test "where user namespaces do not work, auto is hardened and says so, strict is refused" {
	need_hardened
	user_setup
	without_userns true || skip "this host lets nobody limit user namespaces"
	profile auto
	run without_userns "$SCRATCH/go" machine run --id fallback "$SCRATCH/tool"
	echo "$output"
	[[ $status -eq 0 && $output == *"hardened, not strict"* ]]
	[[ $(journal fallback | jq -r 'select(.t == "begin") | .profile') == hardened ]]
	profile strict
	run without_userns "$SCRATCH/go" machine run --id refused "$SCRATCH/tool"
	echo "$output"
	[[ $status -eq 125 && $output == *"strict does not work here"* ]]
	[[ ! -s $(instance refused)/journal.jsonl ]]
}

@test "git is confined as the run is: hardened where auto leads to it, and not at all where strict does not work" {
	need_hardened
	need git
	user_setup
	without_userns true || skip "this host lets nobody limit user namespaces"
	as_user git -C "$SCRATCH/tool" init -q
	as_user git -C "$SCRATCH/tool" add .
	as_user git -C "$SCRATCH/tool" -c user.name=op -c user.email=op@host commit -qm first
	profile strict
	run without_userns "$SCRATCH/go" machine run --id refused "$SCRATCH/tool"
	echo "$output"
	[[ $status -eq 2 && $output == *"git was not run, its strict jail could not be set up, at namespaces: "* ]]
	profile auto
	run without_userns "$SCRATCH/go" machine run --id taken "$SCRATCH/tool"
	echo "$output"
	[[ $status -eq 0 && $output == *"hardened, not strict"* ]]
	run without_userns "$SCRATCH/go" check git
	echo "$output"
	[[ $status -eq 0 && $output == *"hardened here, a strict one could not be set up: at namespaces: "*"ours none" ]]
}

@test "an ordinary user runs a machine" {
	user_setup
	profile auto
	run as_user "$SCRATCH/go" machine run "$SCRATCH/tool"
	echo "$output"
	[[ $status -eq 0 && $output != *root* ]]
	run as_user "$SCRATCH/go" machine verify tool
	[[ $status -eq 0 ]]
}

@test "root is refused unless it says so" {
	need_root
	AGENT6_ALLOW_ROOT='' run go tool
	[[ $status -eq 2 && $output == *"--allow-root"* ]]
	[[ ! -s $(instance tool)/journal.jsonl ]]
	AGENT6_ALLOW_ROOT='' run "$AGENT6_BIN/agent6" machine run --allow-root "$SCRATCH/tool"
	[[ $status -eq 0 && $output == *"RUNNING AS ROOT"* ]]
}

@test "under sudo the state is given back to the user, who goes on with it" {
	need_root
	user_setup
	profile auto
	machine_file parked <<'END'
initial: park
budget: {max_transitions: 9}
states:
  park: {kind: wait, on: {signal: work}}
  work: {kind: tool, command: ["true"], timeout_secs: 20, on: {ok: good, nonzero: good, timeout: good}}
  good: {kind: terminal, status: ok, reason: good}
END
	ensure_user
	SUDO_UID=$(id -u agent6-test) SUDO_GID=$(id -g agent6-test) go parked --exit-on-wait
	[[ -z $(find "$SCRATCH/state" ! -user agent6-test) ]]
	as_user "$SCRATCH/go" machine poke parked
	as_user "$SCRATCH/go" machine run "$SCRATCH/parked"
	ensure_user
	SUDO_UID=$(id -u agent6-test) SUDO_GID=$(id -g agent6-test) go tool
	[[ -z $(find "$SCRATCH/state" ! -user agent6-test) ]]
}

@test "what is given back is what the run wrote, wherever its path leads by then" {
	need_root
	user_setup
	profile auto
	tool_machine swapped '[sh, -c, "touch begun; until [ -e go ]; do sleep 0.05; done; mkdir -p \"$AGENT6_MACHINE_DATA_DIR/a/b\"; ln -s /etc/hostname \"$AGENT6_MACHINE_DATA_DIR/a/link\""]'
	ensure_user
	mkdir -p "$SCRATCH/victim/swapped"
	touch "$SCRATCH/victim/swapped/file"
	SUDO_UID=$(id -u agent6-test) SUDO_GID=$(id -g agent6-test) go swapped &
	local pid=$! machines
	eventually test -e begun
	machines=$(dirname "$(instance swapped)")
	mv "$machines" "$machines.away"
	ln -s "$SCRATCH/victim" "$machines"
	touch go
	local status=0
	wait "$pid" || status=$?
	[[ $status -eq 5 ]] # nobody finds the run where it was any more
	[[ $(stat -c %U "$SCRATCH/victim/swapped" "$SCRATCH/victim/swapped/file" /etc/hostname | sort -u) == root ]]
	[[ -e $machines.away/swapped/data/a/b && -L $machines.away/swapped/data/a/link ]]
	[[ -z $(find "$machines.away" ! -user agent6-test) ]]
}

# With one at $SCRATCH/ws, on which ids cannot be mapped.
on_ramfs() {
	unshare --mount --propagation private sh -ec 'mount -t ramfs none "$0" && cd "$0" && exec "$@"' "$SCRATCH/ws" "$@"
}

@test "root where ids cannot be mapped is refused at the start, before any state (root)" {
	need_root
	machine_file late <<'END'
initial: first
budget: {max_transitions: 9}
states:
  first: {kind: tool, command: ["true"], workspace: none, timeout_secs: 20, on: {ok: work, nonzero: bad, timeout: bad}}
  work: {kind: tool, command: [touch, made], timeout_secs: 20, on: {ok: good, nonzero: bad, timeout: bad}}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
END
	run --separate-stderr on_ramfs "$AGENT6_BIN/agent6" machine run --allow-root "$SCRATCH/late"
	echo "$output$stderr"
	[[ $status -eq 125 && $stderr == *"cannot map ids"*"--allow-root-jail"*"$SCRATCH/ws"* ]]
	[[ -z $(find "$SCRATCH/state" -name journal.jsonl -exec grep -l '"t":"step"' {} +) ]]
	run -0 on_ramfs "$AGENT6_BIN/agent6" machine run --allow-root --allow-root-jail "$SCRATCH/late"
	# Nothing has to be mapped for what only reads.
	sed -i 's/touch, made/ls/; s/work: {kind: tool/&, workspace: read/' "$SCRATCH/late/machine.yaml"
	run -0 on_ramfs "$AGENT6_BIN/agent6" machine run --allow-root --id reads "$SCRATCH/late"
}

@test "check sandbox says whether root's commands can write where it stands (root)" {
	need_root
	run --separate-stderr -0 agent6 check sandbox
	[[ $output == *"here      root's commands can write in $SCRATCH/ws"* ]]
	run --separate-stderr -125 on_ramfs "$AGENT6_BIN/agent6" check sandbox
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"here root's commands cannot write in $SCRATCH/ws: "*"cannot map ids"* ]]
	run --separate-stderr -125 on_ramfs "$AGENT6_BIN/agent6" check sandbox --json
	[[ $(jq -r '"\(.strict.works) \(.directory.works)"' <<<"$output") == "true false" ]]
	run --separate-stderr -0 agent6 check sandbox --json
	[[ $(jq -r '.directory.works' <<<"$output") == true ]]
}

@test "terminals of its own: a state on strict has them, one on hardened is refused at the start" {
	need script
	sed 's/command: .*/command: [script, -qec, "tty; exit 3", \/dev\/null]\n    pty: true/' "$SCRATCH/tool/machine.yaml" >"$SCRATCH/ws/m"
	cp "$SCRATCH/ws/m" "$SCRATCH/tool/machine.yaml"
	run go tool
	[[ $(fact tool '"\(.exit) \(.stdout)"') == "3 /dev/pts/0"* ]]
	need_hardened
	profile hardened
	user_setup
	run --separate-stderr -2 as_user "$SCRATCH/go" machine run --id other "$SCRATCH/tool"
	[[ $stderr == *"state work: pty: sandbox.profile hardened has no terminals but the host's"* ]]
}
