# `agent6 check sandbox` and `agent6 jail`: what people see of the jail.
load jail

setup() {
	jail_setup
	cd "$WS"
}

check_sandbox() { # as whom
	run "$@" "$AGENT6_BIN/agent6" check sandbox --json
	[[ $status -eq 0 ]]
	[[ $(jq -r '.auto, .strict.works, (.strict.probes | length)' <<<"$output") == $'strict\ntrue\n10' ]]
	[[ $(jq -r '[.strict.probes, .hardened.probes | .[] | select(.verdict != "held")] | length' <<<"$output") -eq 0 ]]
	[[ $(jq -r '.strict.hit or .hardened.hit' <<<"$output") == false ]]
}

@test "check sandbox proves both profiles (root)" {
	need_root
	check_sandbox env
}

@test "check sandbox proves both profiles (ordinary user)" {
	check_sandbox as_user
}

@test "check sandbox proves hardened for the root of a user namespace of one id" {
	need_hardened
	run --separate-stderr as_user unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh \
		env AGENT6_ALLOW_ROOT=1 HOME="$SCRATCH" "$AGENT6_BIN/agent6" check sandbox --json
	echo "$output"
	[[ $status -eq 0 ]]
	jq -e '.auto == "hardened" and .strict.works == false and .hardened.works == true' <<<"$output"
}

@test "check sandbox as text names the profile and what hardened cannot do" {
	run -0 agent6 check sandbox
	[[ $output == *$'\nauto      strict'* && $output == *"  held     trace a process"* ]]
	[[ $output == *"The hardened profile cannot do this:"*"/dev/shm is the host's"* ||
		$output == *"the hardened profile needs Landlock ABI 3"* ]]
	[[ $output != *OPEN* ]]
	nothing_left
}

# A launcher that runs the command without any jail.
open_launcher() {
	mkdir "$SCRATCH/bin"
	cp "$AGENT6_BIN/agent6" "$SCRATCH/bin/"
	cat >"$SCRATCH/bin/agent6-jail"
	chmod -R a+rx "$SCRATCH/bin"
}

@test "check sandbox fails when an attempt succeeds" {
	open_launcher <<-'END'
		#!/bin/bash
		policy=$(cat <&3)
		cd "$(jq -r .cwd <<<"$policy")" || exit 125
		mapfile -t argv < <(jq -r '.argv[]' <<<"$policy")
		mapfile -t env < <(jq -r '.env | to_entries[] | "\(.key)=\(.value)"' <<<"$policy")
		env "${env[@]}" "${argv[@]}" 3<&- 4>&-
		echo '{"exit":0,"layers":{}}' >&4
	END
	run -1 "$SCRATCH/bin/agent6" check sandbox
	[[ $output == *"  OPEN     write a file outside the workspace"* && $output == *"a target outside was reached"* ]]
}

@test "check sandbox says why neither profile works, and 125" {
	open_launcher <<-'END'
		#!/bin/bash
		why="cannot make the namespaces that a command of this profile is to live in here"
		echo "{\"exit\":125,\"stage\":\"namespaces\",\"error\":\"$why\",\"layers\":{}}" >&4
		exit 125
	END
	run -125 "$SCRATCH/bin/agent6" check sandbox
	[[ $output == *"strict    does not work here: cannot make the namespaces"* ]]
	run ! grep '.\{81\}' <<<"$output"
	run -125 "$SCRATCH/bin/agent6" check sandbox
	[[ $output == *"auto      nothing"* ]]
}

@test "check sandbox says what to do about a kernel that is too old for either profile" {
	need strace
	run -125 strace -f -qq -o /dev/null -e inject=mount_setattr:error=ENOSYS \
		-e inject=landlock_create_ruleset:error=ENOSYS "$AGENT6_BIN/agent6" check sandbox
	[[ $output == *"hardened  does not work here: "*"Landlock ABI 3 (Linux"* && $output == *"auto      nothing"* ]]
	[[ $output == *"To make strict work:"*"Linux 5.12"* ]]
	[[ $output != *"The hardened profile cannot do"* ]]
}

@test "agent6 jail takes the weaker profile only where the host makes no strict jail" {
	local works
	for works in true false; do
		rm -rf "$SCRATCH/bin"
		open_launcher <<-END
			#!/bin/bash
			case \$(jq -r '"\(.profile) \(.argv[0])"' <&3) in
			"strict /bin/true") $works && exit 0 ;;
			hardened*) exec echo weaker ;;
			esac
			echo '{"exit":125,"stage":"grants","error":"it was replaced","layers":{}}' >&4
			exit 125
		END
		run "$SCRATCH/bin/agent6" jail -- echo ran
		[[ $works == true || ($status -eq 0 && $output == *"trying the hardened profile"*weaker) ]]
		[[ $works == false || ($status -eq 125 && $output != *weaker*) ]]
	done
}

# Fewer than the jail needs of something, as the host counts it.
scarce() { # NAMESPACES CMD...: none of these
	as_user unshare --user --map-current-user --keep-caps sh -c \
		'echo 0 >"/proc/sys/user/max_$1_namespaces" && shift && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"' sh "$@"
}

@test "a limit of the host that is reached is told as one, not as a full disk" {
	give_user "$WS"
	run -125 run_jail "scarce user" -- true
	[[ $output == *"(end other jails, or raise user.max_*_namespaces): No space left on device" ]]
	[[ $(status '.layers.namespaces') == null ]]
	run -125 run_jail "scarce net" -- true
	[[ $output == *"(see user.max_net_namespaces): No space left on device" ]]
	# A step that fails meanwhile may have seen its errno; the cause is reported.
	run -125 run_jail "scarce net" 'read=["/nonexistent"]' -- true
	[[ $output == *"(see user.max_net_namespaces): No space left on device" ]]
	run -125 run_jail "as_user prlimit --nproc=1" -- true
	[[ $output == *"(ulimit -u allows no more processes): Resource temporarily unavailable" ]]
}

@test "installing the AppArmor profile needs AppArmor and root" {
	[[ ! -e /sys/module/apparmor/parameters/enabled ]] || skip "this kernel has AppArmor"
	run agent6 check sandbox --install-apparmor
	[[ $status -eq 2 && ! -e /etc/apparmor.d/agent6 ]]
}

@test "an AppArmor that refuses the profile keeps nothing of it, one that takes it all" {
	need_root
	# shellcheck disable=SC2016
	run -0 unshare -m sh -ec 'mount -t tmpfs tmpfs "$2"
		over() { mkdir -p "$3/$1" "$3/$1.work" && mount -t overlay -o "lowerdir=$2,upperdir=$3/$1,workdir=$3/$1.work" overlay "$2"; }
		over etc /etc "$2" && over sbin /usr/sbin "$2" && mkdir -p /etc/apparmor.d
		mount -t tmpfs tmpfs /sys/kernel/security && mkdir /sys/kernel/security/apparmor
		for code in 1 0; do
			printf "#!/bin/sh\\ncat >$2/given\\nexit %s\\n" $code >/usr/sbin/apparmor_parser
			chmod 755 /usr/sbin/apparmor_parser
			"$1" check sandbox --install-apparmor || true
			cmp "$2/given" /etc/apparmor.d/agent6 || echo differs
		done
		grep -c userns /etc/apparmor.d/agent6' _ "$AGENT6_BIN/agent6" "$SCRATCH"
	[[ $output == *"refused the profile, so nothing was installed"*differs*$'\n'2 ]]
	[[ $output != *differs*differs* ]]
}

@test "agent6 jail runs a command in the working directory" {
	run -0 agent6 jail -- sh -c 'echo new >made; cat made; echo evil >>.git/config; true'
	[[ ${lines[0]} == new && $(cat made) == new && $(cat .git/config) == original ]]
	run -7 agent6 jail -- sh -c 'exit 7'
	run -124 agent6 jail --timeout 1 -- sleep 30
	run -127 agent6 jail -- /nonexistent
	run -0 agent6 jail -- cat <<<"from stdin"
	[[ $output == "from stdin" ]]
	TZ=Asia/Tokyo SECRET=s3cret run -0 agent6 jail -- sh -c 'echo "$TZ$SECRET"'
	[[ $output == Asia/Tokyo ]]
	run agent6 jail
	[[ $status -eq 2 && $output == *"a command is missing"* ]]
}

@test "agent6 jail as an ordinary user" {
	give_user "$WS"
	run as_user "$AGENT6_BIN/agent6" jail -- sh -c 'echo new >made; id -u; cat /etc/shadow'
	[[ $status -eq 1 && ${lines[0]} -eq 1000 && -e made ]]
}

check_relay() { # WHO PROFILE
	mkdir -p "$SCRATCH/config/agent6"
	echo "sandbox: {profile: $2}" >"$SCRATCH/config/agent6/config.yaml"
	local run=($1 env "XDG_CONFIG_HOME=$SCRATCH/config" "$AGENT6_BIN/agent6" jail --)
	printf 'before\n' >"$SCRATCH/out"
	printf 'one\ntwo\n' >"$SCRATCH/in"
	mkfifo "$SCRATCH/pipe"
	chmod 600 "$SCRATCH/out" "$SCRATCH/in" "$SCRATCH/pipe"
	give_user "$SCRATCH"/{out,in,pipe}
	# shellcheck disable=SC2016 # perl's
	"${run[@]}" perl -e 'chmod 0666, $_ for *STDIN, *STDOUT, *STDERR; truncate *STDOUT, 0; seek STDIN, 0, 0
		and print STDERR "sought\n"; print STDERR sysread(STDOUT, $x, 9) ? "read\n" : "blind\n"; $| = 1
		; for (1 .. 500) { print "out $_\n"; print STDERR "err $_\n" } print <STDIN>; exit 7' \
		<"$SCRATCH/in" 1<>"$SCRATCH/out" 2>&1 && false
	[[ $? -eq 7 && $(stat -c %a "$SCRATCH/out" "$SCRATCH/in") == $'600\n600' ]]
	[[ $(grep -c . "$SCRATCH/out") -eq 1003 && $(head -n 1 "$SCRATCH/out") == blind ]]
	[[ $(sed -n 2,1001p "$SCRATCH/out") == "$(for i in $(seq 500); do echo "out $i"; echo "err $i"; done)" ]]
	[[ $(tail -n 2 "$SCRATCH/out") == $'one\ntwo' ]]
	rm "$SCRATCH/pipe"
}

@test "agent6 jail: a command reaches no file that is its input or output but through a pipe (root)" {
	need_root
	check_relay env strict
}

@test "the same as an ordinary user, strict and hardened" {
	give_user "$WS"
	check_relay as_user strict
	need_hardened
	check_relay as_user hardened
}

@test "agent6 jail: much output, slow readers, named pipes, a full disk and a terminal" {
	need script
	agent6 jail -- head -c 30000000 /dev/zero >"$SCRATCH/big"
	[[ $(stat -c %s "$SCRATCH/big") -eq 30000000 ]]
	head -c 5000000 /dev/urandom >"$SCRATCH/input"
	agent6 jail -- cat <"$SCRATCH/input" | cmp - "$SCRATCH/input"
	mkfifo "$SCRATCH/fifo"
	agent6 jail -- cat <"$SCRATCH/input" >"$SCRATCH/fifo" &
	local writer=$!
	(sleep 0.3 && exec cat) <"$SCRATCH/fifo" | cmp - "$SCRATCH/input"
	wait "$writer"
	chmod 600 "$SCRATCH/fifo"
	agent6 jail -- sh -c 'exit 5' <"$SCRATCH/input" >"$SCRATCH/said" && false
	[[ $? -eq 5 && ! -s $SCRATCH/said ]]
	(ulimit -f 1 && agent6 jail -- head -c 3000000 /dev/zero >"$SCRATCH/cut") 2>"$SCRATCH/said" && false
	[[ $? -ne 0 && $(stat -c %s "$SCRATCH/cut") -le 1024 ]]
	grep -q "standard output of the command was cut short: File too large" "$SCRATCH/said"
	run script -qec "'$AGENT6_BIN/agent6' jail -- sh -c 'test -t 0 && test -t 1 && echo a terminal'" /dev/null
	[[ $output == *"a terminal"* ]]
}

@test "agent6 jail: a signal ends it after all that its command left; a killed launcher's command too" {
	need_hardened
	give_user "$WS"
	mkdir -p "$SCRATCH/config/agent6"
	echo "sandbox: {profile: hardened}" >"$SCRATCH/config/agent6/config.yaml"
	local marker=$((BASHPID + 10000000)) number code verb
	for number in 2 15 1 9; do
		rm -f up
		as_user env XDG_CONFIG_HOME="$SCRATCH/config" setsid "$AGENT6_BIN/agent6" jail -- \
			sh -c "(setsid sleep $marker &); touch up; sleep $marker" 2>"$SCRATCH/said" 3>&- &
		code=0
		eventually test -e up
		verb=$(pgrep -fx "$AGENT6_BIN/agent6 jail -- sh -c .*sleep $marker")
		if [[ $number -eq 9 ]]; then
			kill -9 "$(pgrep -P "$verb" agent6-jail)"
		else
			kill "-$number" "$verb"
		fi
		wait $! || code=$?
		run ! pgrep -f "sleep $marker"
		[[ $code -eq $((128 + number)) ]]
	done
	grep -q "launcher lost: agent6-jail was killed by signal 9" "$SCRATCH/said"
}

@test "agent6 jail: grants, read-only, network" {
	mkdir -p "$SCRATCH/r" "$SCRATCH/w" "$SCRATCH/n"
	echo text >"$SCRATCH/r/file"
	run agent6 jail --read "$SCRATCH/r" --write "$SCRATCH/w" -- sh -c \
		"cat $SCRATCH/r/file; touch $SCRATCH/w/made $SCRATCH/r/made; ls $SCRATCH/n"
	[[ ${lines[0]} == text && -e $SCRATCH/w/made && ! -e $SCRATCH/r/made ]]
	[[ $output == *"$SCRATCH/n"*"No such file"* ]]
	run agent6 jail --read-only -- touch made
	[[ $status -eq 1 && ! -e made ]]
	run -0 agent6 jail -- readlink /proc/self/ns/net
	[[ $output != "$(readlink /proc/self/ns/net)" ]]
	run -0 agent6 jail --network host -- readlink /proc/self/ns/net
	[[ $output == "$(readlink /proc/self/ns/net)" ]]
	run agent6 jail --read /nonexistent -- true
	[[ $status -eq 2 && $output == *"--read /nonexistent: No such file"* ]]
	run -125 agent6 jail --write /proc -- true
	[[ $output == "agent6-jail: layout: /proc cannot be granted: it belongs to the jail" ]]
}

@test "agent6 jail --explain shows what the kernel has mounted" {
	mkfifo pipe
	run -0 agent6 jail --explain
	[[ $output == *$'\nin force: no capabilities, '*"no network"* ]]
	[[ $output == *"$WS "*"of this host, writable, programs run"* ]]
	[[ $output == *"$WS/.git "*"of this host, read-only"* && $output == *"$WS/pipe "*"private memory, read-only"* ]]
	[[ $output == *$'\n/proc '*"its own processes, read-only"* && $output != *shadow* ]]
}

@test "agent6 jail --explain: a workspace in the host's memory is the host's" {
	local at=$SCRATCH/in\ $'\e'memory
	mkdir "$at"
	local own=(--mount)
	[[ $(id -u) -eq 0 ]] || own+=(--user --map-current-user --keep-caps)
	run unshare "${own[@]}" sh -c 'mount -t tmpfs none "$0" && cd "$0" && exec setpriv --inh-caps=-all --ambient-caps=-all "$1" jail --explain' \
		"$at" "$AGENT6_BIN/agent6"
	[[ $output != *"(tmpfs can from Linux 6.3)"* ]] || skip "this kernel cannot map the ids of a tmpfs for root's jail"
	[[ $status -eq 0 && ${lines[0]} == "strict in $SCRATCH/in \\x1bmemory" && $output != *$'\e'* ]]
	[[ $output == *"$SCRATCH/in \\x1bmemory "*"of this host, writable"* && $output == *$'\n/tmp '*"private memory"* ]]
}

@test "agent6 jail tells a set-up failure from the command's own 125" {
	run agent6 jail -- sh -c 'exit 125'
	[[ $status -eq 125 && -z $output ]]
	mkdir "$SCRATCH/link.d"
	ln -s link.d "$SCRATCH/link"
	cd "$SCRATCH/link"
	run --separate-stderr -0 agent6 jail -- pwd
	[[ $output == "$SCRATCH/link.d" && $stderr == *"the workspace is $SCRATCH/link.d, "* ]]
}

@test "jail --pty: terminals of its own, and of the one it is started from only a way to write" {
	need script
	run -0 agent6 jail --pty -- script -qec tty /dev/null
	[[ $output == *"/dev/pts/0"* ]]
	run -0 --separate-stderr agent6 jail --pty --explain
	[[ $output == *"/dev/pts  "*"its own terminals, writable"* ]]
	# shellcheck disable=SC2016 # expanded inside
	run script -qec '"$AGENT6_BIN/agent6" jail --pty -- perl -e "
		print -t STDOUT ? \"a terminal\" : \"none\", \", \", -t STDIN ? \"open\" : \"shut\", \", \";
		print syscall(16, 1, 0x540e, 0) >= 0 ? \"taken\" : \"kept\""' /dev/null
	echo "$output"
	[[ $status -eq 0 && $output == *"--pty: this terminal stays outside; the command reads /dev/null"* ]]
	[[ $output == *"a terminal, shut, kept"* ]]
}
