# The jail under load and on kernels that lack things: nothing is left behind, and a call that fails
# either has its documented fallback or ends the set-up with 125.
load jail

setup() {
	jail_setup
	policy -- /bin/true >"$SCRATCH/policy.json"
}

# Processes of ours and mounts; the namespaces live in these and nowhere else. Other tests run beside
# this one: their processes do not carry our policy's name. What the kernel is still taking down is
# given a moment.
census() {
	for _ in $(seq 2000); do
		pgrep -f "^[^ ]*agent6-jail --policy $SCRATCH/policy.json" >/dev/null || break
		sleep 0.05
	done
	echo "mounts $(wc -l </proc/self/mountinfo)"
	echo "jails $(pgrep -c -f "^[^ ]*agent6-jail --policy $SCRATCH/policy.json")"
}

jails() { # COUNT at a time
	local i
	for i in $(seq "$1"); do
		"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" &
	done
	local failed=0
	for i in $(jobs -p); do
		wait "$i" || failed=$((failed + 1))
	done
	echo "$failed failed"
}

@test "2,000 jails in a row leave nothing behind" {
	census >"$SCRATCH/before"
	local count=2000
	[[ ${AGENT6_CONFIG-release} == release ]] || count=100 # each takes ten times as long
	for _ in $(seq "$count"); do
		"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json"
	done
	census >"$SCRATCH/after"
	diff "$SCRATCH/before" "$SCRATCH/after"
}

@test "64 jails at once leave nothing behind" {
	census >"$SCRATCH/before"
	run jails 64
	[[ $output == "0 failed" ]]
	census >"$SCRATCH/after"
	diff "$SCRATCH/before" "$SCRATCH/after"
}

@test "jails side by side do not see each other" {
	jail -- sh -c 'touch ready; while [ ! -e go ]; do sleep 0.02; done' &
	local first=$!
	eventually test -e "$WS/ready"
	run jail -- sh -c 'ls /proc | grep -c "^[0-9]"; kill -9 -1; touch go'
	wait "$first"
	[[ ${lines[0]} -le 5 && -e $WS/go ]]
}

# with CALL ERRNO: the jail with that call failing, every time, in all its processes.
with() {
	strace -f -qq -o "$SCRATCH/trace" -e trace="$1" -e inject="$1:error=$2" \
		"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" --status-fd 7 7>"$SCRATCH/status"
}

@test "a set-up call that fails ends the set-up, with its step and errno" {
	need strace
	policy -- /bin/touch made >"$SCRATCH/policy.json"
	local call
	for call in mount_setattr:ENOSYS move_mount:ENOSYS open_tree:ENOSYS mount:EPERM pivot_root:EPERM \
		umount2:EPERM clone:EPERM seccomp:EINVAL capset:EPERM setresuid:EPERM setresgid:EPERM \
		landlock_restrict_self:EPERM landlock_add_rule:EINVAL setsid:EPERM close_range:ENOSYS prctl:EINVAL \
		openat2:ENOSYS; do
		run with "${call%:*}" "${call#*:}"
		echo "$call: $status $(cat "$SCRATCH/status")"
		[[ $status -eq 125 && $(status '.stage | length > 2') == true && $(status .errno) -ne 0 ]]
		[[ ! -e $WS/made ]]
	done
}

# The kernel is asked for its ABI by the launcher alone, and the rules are made elsewhere.
with_abi() {
	strace -qq -o "$SCRATCH/trace" -e trace=landlock_create_ruleset -e inject=landlock_create_ruleset:retval="$1":when=1 \
		"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" --status-fd 7 7>"$SCRATCH/status"
}

@test "every Landlock that this kernel includes: strict from ABI 2 on, hardened from 3, less is told or refused" {
	need strace
	local abi profile here least
	"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" --status-fd 7 7>"$SCRATCH/status"
	here=$(status .layers.landlock)
	for profile in strict:2 hardened:3; do
		least=${profile#*:}
		policy "profile=\"${profile%:*}\"" 'allow_root_jail=true' -- /bin/true >"$SCRATCH/policy.json"
		for ((abi = 1; abi <= here; abi++)); do
			run with_abi "$abi"
			echo "$profile, ABI $abi: $status $output"
			if [[ $abi -ge $least ]]; then
				[[ $status -eq 0 && $(status .layers.landlock) -eq $abi ]]
			elif [[ $profile == strict:* ]]; then
				[[ $status -eq 0 && $(status .layers.landlock) -eq 0 ]]
			else
				[[ $status -eq 125 && $(status .stage) == landlock ]]
			fi
		done
	done
}

@test "the host's abstract sockets are out of reach in the host's network, whatever Landlock this is" {
	need strace
	need perl
	local abi here network listener name=agent6-test-$$
	perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("\0$ARGV[0]")) && listen($s, 8) or die;
		open(my $f, ">", $ARGV[1]); close $f; alarm 600; accept(my $c, $s) while 1' "$name" "$SCRATCH/listens" 3>&- &
	listener=$!
	eventually test -e "$SCRATCH/listens"
	cat >"$WS/ask" <<-'END'
		use Socket;
		socket(my $s, AF_UNIX, SOCK_STREAM, 0) or exit;
		print "reached\n" if connect($s, pack_sockaddr_un("\0$ARGV[0]"));
	END
	run perl "$WS/ask" "$name"
	[[ $output == reached ]]
	for network in host none; do
		policy "network=\"$network\"" -- /usr/bin/perl ask "$name" >"$SCRATCH/policy.json"
		"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/policy.json" --status-fd 7 7>"$SCRATCH/status"
		here=$(status .layers.landlock)
		for ((abi = 1; abi <= here; abi++)); do
			run with_abi "$abi"
			echo "$network, ABI $abi: $status $output"
			[[ $status -eq 0 && -z $output ]]
			[[ $(status .layers.unix_sockets) == "$([[ $network == host && $abi -lt 6 ]] && echo closed || echo open)" ]]
		done
	done
	kill "$listener"
}

@test "what may be missing is reported, and refused when it is required" {
	need strace
	run with landlock_create_ruleset ENOSYS
	[[ $status -eq 0 && $(status .layers.landlock) -eq 0 ]]
	run with keyctl ENOSYS
	[[ $status -eq 0 && $(status .layers.keyring) == false ]]
	policy 'require={"landlock":1}' -- /bin/touch made >"$SCRATCH/policy.json"
	run with landlock_create_ruleset ENOSYS
	[[ $status -eq 125 && $(status .stage) == require && ! -e $WS/made ]]
	policy 'require={"keyring":true}' -- /bin/touch made >"$SCRATCH/policy.json"
	run with keyctl EPERM
	[[ $status -eq 125 && $(status .stage) == require && ! -e $WS/made ]]
	policy 'profile="hardened"' 'allow_root_jail=true' -- /bin/touch made >"$SCRATCH/policy.json"
	run with landlock_create_ruleset ENOSYS
	[[ $status -eq 125 && $(status .stage) == landlock && ! -e $WS/made ]]
}
