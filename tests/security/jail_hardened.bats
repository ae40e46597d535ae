# The hardened jail alive: no namespaces, so Landlock, seccomp and the sweep carry it. As an ordinary
# user, and as root for a workspace that belongs to one.
load jail
load toolchains

setup() {
	need_hardened
	jail_setup
	give_user "$WS"
}

hardened() {
	user_jail 'profile="hardened"' "$@"
}

@test "files: the workspace is writable, the private directory too, nothing else" {
	echo secret >"$SCRATCH/outside"
	chmod a+rw "$SCRATCH/outside"
	run hardened -- sh -c "echo new >made && cat made; cat $SCRATCH/outside; echo x >$SCRATCH/outside
		echo temporary >\$TMPDIR/file && cat \$HOME/file; ls /tmp >/dev/null; cat /etc/hosts >/dev/null"
	[[ ${lines[0]} == new && $output == *$'\ntemporary'* && $output != *secret* ]]
	[[ $(cat "$WS/made") == new && $(cat "$SCRATCH/outside") == secret ]]
	[[ $(status '.layers | "\(.profile) \(.protect) \(.landlock > 2) \(.uid) \(.network)"') == "hardened false true same none" ]]
	run hardened 'network="host"' -- true
	[[ $status -eq 0 && $(status .layers.network) == host ]]
}

@test "what is protected inside of what is granted is refused, for it could not be kept" {
	mkdir -p "$SCRATCH/grant/kept" "$WS/kept"
	chmod -R a+rwX "$SCRATCH/grant"
	local who held
	for who in hardened "jail profile=\"hardened\""; do
		for held in "$SCRATCH/grant/kept" "$SCRATCH/grant" "$SCRATCH/grant/none"; do
			run $who "write=[\"$SCRATCH/grant\"]" "protect=[\"$held\"]" -- touch "$SCRATCH/grant/kept/made" "$WS/made"
			[[ $status -eq 125 && ! -e $SCRATCH/grant/kept/made && ! -e $WS/made ]]
			[[ $output == *"$held is protected and lies in $SCRATCH/grant, which is writable"*"grant less, or use strict"* ]]
			[[ $(status .stage) == layout ]]
		done
		# A workspace that is only read, in a grant around it.
		run $who "write=[\"$SCRATCH\"]" "protect=[\"$WS/kept\"]" "workspace={\"path\":\"$WS\",\"access\":\"read\"}" -- touch "$WS/kept/made"
		[[ $status -eq 125 && $output == *"$WS/kept is protected and lies in $SCRATCH, which is writable"* && ! -e $WS/kept/made ]]
		# In one that is written, the layer says that nothing is protected.
		run $who "protect=[\"$WS/kept\"]" "write=[\"$SCRATCH/grant\"]" -- true
		[[ $status -eq 0 && $(status .layers.protect) == false ]]
	done
	run user_jail "write=[\"$SCRATCH/grant\"]" "protect=[\"$SCRATCH/grant/kept\"]" -- touch "$SCRATCH/grant/kept/made" "$SCRATCH/grant/made"
	[[ ! -e $SCRATCH/grant/kept/made && -e $SCRATCH/grant/made && $(status .layers.protect) == true ]] # strict keeps it
}

@test "a grant that a command has made a link leads nowhere" {
	mkdir "$SCRATCH/outside"
	echo secret >"$SCRATCH/outside/key"
	chmod -R a+rwX "$SCRATCH/outside"
	local access
	for access in read write; do
		run hardened -- sh -c "rm -rf out; ln -s $SCRATCH/outside out"
		[[ $status -eq 0 ]]
		run hardened "$access=[\"$WS/out\"]" -- sh -c 'cat out/key; echo x >out/new'
		[[ $status -eq 125 && $output == *"$WS/out is or passes through a symbolic link"* ]]
		[[ $(status .stage) == landlock && ! -e $SCRATCH/outside/new ]]
		rm "$WS/out"
		run hardened "$access=[\"$WS/out\"]" -- true
		[[ $status -eq 125 && $output == *"cannot open $WS/out"* ]]
		run hardened -- sh -c 'mkdir out; echo inside >out/file'
		[[ $status -eq 0 ]]
		run hardened "$access=[\"$WS/out\"]" 'workspace.access="read"' -- cat out/file
		[[ $status -eq 0 && $output == inside ]]
	done
}

@test "what lies in a read grant runs and is mapped as on the host" {
	make_toolchain "$SCRATCH/chain"
	use_toolchain hardened
}

@test "the private directory goes, whatever lies in it" {
	run hardened -- sh -c 'cd "$TMPDIR"; for i in $(seq 300); do mkdir d && chmod 755 d && cd d; done
		touch file; cd "$TMPDIR"; mkdir closed; touch closed/file; chmod 0 closed; ln -s / link; mkfifo pipe; echo "$TMPDIR"'
	[[ $status -eq 0 && $output == /tmp/agent6-jail-* && ! -e ${lines[-1]} ]]
}

@test "a launcher that can open no file any more sweeps all the same" {
	need prlimit
	hardened -- sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $! >left; echo $PPID >launcher
		while [ ! -e go ]; do sleep 0.05; done' 3>&- &
	local jail=$!
	eventually test -s "$WS/launcher"
	as_user prlimit --pid "$(cat "$WS/launcher")" --nofile=3
	touch "$WS/go"
	wait "$jail"
	[[ $(status .exit) -eq 0 ]]
	run ! kill -0 "$(cat "$WS/left")"
}

@test "the private directory goes, though nobody takes the status any more" {
	policy 'profile="hardened"' -- sh -c 'touch "$HOME/made"' >"$SCRATCH/policy.json"
	give_user "$SCRATCH/policy.json"
	mkfifo "$SCRATCH/pipe"
	exec 6<>"$SCRATCH/pipe" 7>"$SCRATCH/pipe" 6<&-
	run as_user "$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" --status-fd 7
	exec 7>&-
	[[ $status -eq 125 ]]
	nothing_left
}

@test "no network, no unix sockets" {
	need socat
	run hardened -- socat -u TCP:127.0.0.1:9 -
	[[ $status -ne 0 && $output == *"Address family not supported"* ]]
	run hardened -- socat -u UNIX-CONNECT:/x -
	[[ $output == *"Address family not supported"* || $(status .layers.unix_sockets) == open ]]
}

@test "sockets in the workspace are looked for only where it makes a difference" {
	mkfifo "$WS/pipe"
	run hardened -- true
	[[ $status -eq 0 ]]
	local scan=none
	[[ $(status .layers.landlock) -lt 9 ]] || scan=whole
	[[ $(status .layers.scan) == "$scan" && $(status .layers.unix_sockets) == closed ]]
}

@test "exit statuses" {
	run hardened -- sh -c 'exit 7'
	[[ $status -eq 7 && $(status .exit) -eq 7 ]]
	run hardened -- sh -c 'kill -TERM $$'
	[[ $status -eq 143 && $(status .signal) -eq 15 ]]
	run hardened timeout_secs=1 -- sleep 20
	[[ $status -eq 124 && $(status .timed_out) == true ]]
	run -127 hardened -- nonexistent
	run hardened 'cwd="/nowhere"' -- true
	[[ $status -eq 125 && $(status .stage) == cwd ]]
}

@test "the process limit is the command's own, however much its user runs" {
	as_user sh -c 'i=0; while [ $i -lt 60 ]; do sleep 600 & i=$((i + 1)); done; echo "$$" >"$HOME/ready"; wait' 3>&- &
	eventually test -s "$USER_HOME/ready"
	local limit='limits={"processes":30}' few many
	few=$(hardened "$limit" -- sh -c 'true & wait; echo forked') || true
	many=$(hardened "$limit" -- sh -c 'i=0; while [ $i -lt 80 ]; do sleep 90 & i=$((i+1)); done; echo all' 2>&1) || true
	pkill -P "$(cat "$USER_HOME/ready")"
	echo "few: $few, many: $many"
	[[ $few == forked && $many != *all ]]
	[[ $many == *[Ff]ork* || $many == *"Resource temporarily"* ]]
}

@test "daemons are killed with the command and with its time" {
	local marker=$((BASHPID + 10000000))
	run hardened -- sh -c "(setsid sleep $marker &); (setsid sh -c 'trap \"\" TERM HUP; sleep $marker' &); exit 3"
	[[ $status -eq 3 ]]
	run hardened timeout_secs=1 -- sh -c "(setsid sleep $marker &); sleep $marker"
	[[ $status -eq 124 ]]
	run pgrep -f "sleep $marker"
	[[ $status -eq 1 ]]
}

@test "a signal to the launcher, or the end of who started it, ends what the command left, and first" {
	check_lifeline hardened
}

# Runs a command with /proc read-only, as in a container.
proc_shut() {
	as_user unshare --user --map-current-user --keep-caps --mount sh -c \
		'mount -o remount,bind,ro /proc && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"' sh "$@"
}

@test "a /proc that is closed to writing keeps no command from running" {
	run run_jail proc_shut 'profile="hardened"' -- echo ran
	echo "$output"
	[[ $status -eq 0 && $output == ran ]]
}

@test "what it cannot do is refused: hiding" {
	echo x >"$WS/secret"
	run hardened "hide=[\"$WS/secret\"]" -- true
	[[ $status -eq 125 && $output == *"cannot hide"* ]]
}

@test "what it cannot do is refused: root as root" {
	need_root
	chown root: "$WS"
	run jail 'profile="hardened"' -- touch made
	[[ $status -eq 125 && $output == *"would run as root"* && ! -e $WS/made ]]
	run jail 'profile="hardened"' allow_root_jail=true -- id -u
	[[ $status -eq 0 && $output == 0 && $(status .layers.uid) == root ]]
}

@test "root's command becomes the workspace's owner" {
	need_root
	run jail 'profile="hardened"' -- sh -c 'id -u; echo mine >"$TMPDIR/made" && cat "$TMPDIR/made"; touch made; cat /etc/shadow'
	[[ ${lines[0]} -eq $(id -u "$TEST_USER") && ${lines[1]} == mine && $(stat -c %U "$WS/made") == "$TEST_USER" ]]
	[[ $(status .layers.uid) == owner ]]
	run run_jail "setpriv --groups=4,24" 'profile="hardened"' -- id -G
	[[ $output == "$(id -g "$TEST_USER")" ]]
}

@test "toolchains work inside: gcc, make, git, perl" {
	need_in_usr gcc make git perl
	build_c hardened
}

@test "toolchains work inside: python3 with processes and pipes; semaphores would lie in the host's memory" {
	need_in_usr python3
	run hardened -- /usr/bin/python3 -c '
import multiprocessing, os, tempfile
def child(end): end.send(sum(range(5)))
ours, theirs = multiprocessing.Pipe()
process = multiprocessing.Process(target=child, args=(theirs,))
process.start(); print(ours.recv()); process.join()
with tempfile.NamedTemporaryFile() as f: print(f.name.startswith(os.environ["TMPDIR"]))
try: multiprocessing.Lock()
except PermissionError: print("refused")'
	echo "$output"
	[[ $status -eq 0 && $output == $'10\nTrue\nrefused' ]]
}

@test "toolchains work inside: node with npm test" {
	need_in_usr node npm
	run_npm hardened
}

@test "toolchains work inside: keytool, javac, java and mvn" {
	need_in_usr keytool
	run_java hardened
}

@test "toolchains work inside: cargo builds, runs and tests a crate" {
	need_in_usr cargo
	build_crate hardened
}

@test "nothing is left in /tmp" {
	run hardened -- true
	nothing_left
}
