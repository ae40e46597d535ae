# stress-ng's bombs in the jail, under limits far below what the machine has: the limit holds, another
# jail runs beside the bomb, the status line says how it ended, and nothing is left behind.
#
# Should the jail not hold, the outer bounds do: seconds, file size, descriptors.
load jail

OUTER=(timeout -k 5 200 prlimit --fsize=134217728 --nofile=8192)
PROCESSES=40 MEMORY_MB=64 FILES=64 FILE_MB=8 TMP_MB=16 TRIED=200

# Another test's processes are not counted with a bomb's, nor a bomb's with theirs.
TEST_USER=agent6-test-bombs

setup() {
	need stress-ng
	jail_setup
	LIMITS="limits={\"processes\":$PROCESSES,\"memory_mb\":$MEMORY_MB,\"open_files\":$FILES,\"file_mb\":$FILE_MB,\"tmp_mb\":$TMP_MB}"
	census >"$SCRATCH/before"
}

# Counts what a bomb could leave; the host's own objects of these kinds do not change while a test runs.
census() {
	wc -l </proc/self/mountinfo
	find /dev/mqueue /dev/shm /tmp -maxdepth 1 -name '*stress-ng*' 2>/dev/null | wc -l
	inhabitants | wc -l
}

# Processes that stand in the workspace.
inhabitants() {
	find /proc/[0-9]*/cwd -maxdepth 0 -lname "$WS*" -printf '%h\n' 2>/dev/null
}

# Again and again the most descriptors that a process has open.
sample() {
	local at process fds most
	while [[ -e $SCRATCH/burning ]]; do
		most=0
		mapfile -t at < <(inhabitants)
		for process in "${at[@]}"; do
			fds=("$process"/fd/*)
			((${#fds[@]} <= most)) || most=${#fds[@]}
		done
		echo "$most"
		sleep 0.02
	done
}

# Other jails meanwhile: one line for each that ran.
neighbours() {
	while [[ -e $SCRATCH/burning ]]; do
		"$AGENT6_BIN/agent6-jail" --policy "$SCRATCH/other.json" && echo ran
		sleep 0.1
	done
}

launch() { # WHO FIELDS... -- CMD...
	local who=$1 bounds=("${OUTER[@]}")
	shift
	[[ $who == root ]] || {
		[[ $(id -u) -ne 0 ]] || chown -R "$TEST_USER:" "$WS"
		bounds=(as_user "${OUTER[@]}")
	}
	run_jail "${bounds[*]}" "$LIMITS" "$@"
}

# bomb WHO PROFILE ARGS...: a second of stress-ng. Sets $open (the most descriptors), $beside
# (how many other jails ran meanwhile) and $ended (the jail's own exit status).
bomb() {
	local who=$1 profile=$2
	shift 2
	policy "profile=\"$profile\"" 'allow_root_jail=true' -- /bin/true >"$SCRATCH/other.json"
	touch "$SCRATCH/burning"
	sample >"$SCRATCH/samples" &
	neighbours >"$SCRATCH/neighbours" &
	ended=0
	launch "$who" "profile=\"$profile\"" 'allow_root_jail=true' -- \
		stress-ng --quiet --timeout "${seconds-1}" "$@" >"$SCRATCH/output" 2>&1 || ended=$?
	rm "$SCRATCH/burning"
	wait
	open=$(sort -n "$SCRATCH/samples" | tail -n 1)
	beside=$(wc -l <"$SCRATCH/neighbours")
	echo "$who, $profile, $*: $open descriptors, $beside jails beside, $(status 'del(.layers)|tojson')"
}

# After every bomb: it ended by itself, as told, or by its LIMIT, and left nothing.
over() { # [LIMIT]
	if [[ $# -eq 0 || $ended -lt 124 ]]; then
		[[ $ended -lt 124 && $(status '"\(.exit) \(.timed_out) \(.stage)"') == "$ended false null" ]]
	else
		[[ $ended -eq 137 && $(status '"\(.signal) \(.limit | keys)"') == "9 [\"$1\"]" ]]
	fi
	[[ $beside -ge 1 ]]
	census >"$SCRATCH/after"
	diff "$SCRATCH/before" "$SCRATCH/after"
}

each() { # FUNCTION: for every kind of user and profile
	[[ $(id -u) -ne 0 ]] || "$1" root strict
	if ! can_harden; then
		"$1" user strict
		need_hardened
	fi
	"$1" user hardened
	# The limits are the kernel's: for the sanitizers' sake each profile and each user once will do.
	[[ ${AGENT6_CONFIG-release} == release || $(id -u) -ne 0 ]] || return 0
	[[ $(id -u) -ne 0 ]] || "$1" root hardened
	"$1" user strict
}

# A bomb's children end as fast as they come; CMD's stay until it has TRIED or there are no more, and it
# says how many. Hardened, what the user runs elsewhere is counted too, and may end; of the host's root,
# hardened, only a cgroup could count any.
many() { # WHO PROFILE CMD...
	[[ $1 != root || $2 != hardened ]] || return 0
	local count most=$PROCESSES
	[[ $2 == strict ]] || most=$((TRIED - 1))
	count=$(launch "$1" "profile=\"$2\"" -- "${@:3}")
	echo "$1, $2: $count of $PROCESSES"
	[[ $count -gt 8 && $count -le $most ]]
}

forks() {
	bomb "$1" "$2" --fork 8 --fork-max 100
	over
	# shellcheck disable=SC2016 # the variables are perl's
	many "$1" "$2" perl -e 'while (defined($p = fork)) { $p or sleep, exit; last if ++$n == '$TRIED' } print $n'
}

@test "fork bomb" {
	each forks
}

threads() {
	bomb "$1" "$2" --pthread 4 --pthread-max 500
	over
	many "$1" "$2" python3 -c 'if True:
		import threading, os
		threading.stack_size(65536)
		try:
			while threading.active_count() < '$TRIED':
				threading.Thread(target=threading.Event().wait).start()
		except RuntimeError:
			pass
		print(threading.active_count(), flush=True)
		os._exit(0)'
}

@test "thread bomb" {
	need python3
	each threads
}

memory() {
	bomb "$1" "$2" --vm 2 --vm-bytes 512M --vm-keep
	over memory_mb
	[[ $(status .max_rss_kib) -lt $((MEMORY_MB * 1024 + 16384)) ]]
}

@test "memory bomb" {
	each memory
}

shared_memory() {
	bomb "$1" "$2" --shm-sysv 2 --shm-sysv-bytes 64M --shm 2 --mq 2
	over memory_mb
}

@test "bomb of shared memory and queues: all of it goes with the jail" {
	each shared_memory
}

@test "bomb of shared memory: a cgroup counts it (root)" {
	need_root
	need_cgroup memory
	LIMITS="limits={\"memory_mb\":$MEMORY_MB}" run launch root 'require={"memory":"cgroup"}' -- \
		stress-ng --quiet --timeout 1 --shm-sysv 2 --shm-sysv-bytes 512M
	[[ $(status .max_rss_kib) -lt $((MEMORY_MB * 1024 + 16384)) ]]
}

memory_files() {
	bomb "$1" "$2" --memfd 2 --memfd-bytes 512M
	over memory_mb
	[[ $(status .max_rss_kib) -lt $((MEMORY_MB * 1024 + 16384)) ]]
}

@test "bomb of files in memory" {
	each memory_files
}

files() {
	local seconds
	for seconds in 1 4 16; do
		bomb "$1" "$2" --open 2 --open-max 5000 --eventfd 2 --timerfd 1
		over
		[[ $open -le 10 ]] || break
	done
	[[ $open -gt 10 && $open -le $FILES ]]
}

@test "descriptor bomb" {
	each files
}

passed() {
	bomb "$1" "$2" --sockfd 2 --pipe 2
	over memory_mb
	[[ $open -le $FILES ]]
}

@test "bomb of descriptors on their way" {
	each passed
}

disk() {
	bomb "$1" "$2" --temp-path "$WS" --hdd 2 --hdd-bytes 64M --fallocate 2 --fallocate-bytes 64M
	over
	[[ -z $(find "$WS" -size +"$((FILE_MB * 1024))k") ]]
}

@test "file bomb" {
	each disk
}

signals() {
	bomb "$1" "$2" --sigq 2 --timer 2 --inotify 1
	over
}

@test "bomb of signals, timers and watches" {
	each signals
}

temporary() {
	local profile=strict
	rm -f "${WS:?}"/*
	launch "$1" "profile=\"$profile\"" -- sh -c '
		stress-ng --quiet --timeout 1 --temp-path /tmp --hdd 2 --hdd-bytes 64M --dentry 2 --dentries 20000 --tmpfs 2
		df -k --output=size,itotal /tmp | tail -n 1; head -c 99000000 /dev/zero >/dev/shm/x; stat -c %s /dev/shm/x' \
		>"$SCRATCH/output" 2>&1
	cat "$SCRATCH/output"
	read -r size inodes <<<"$(tail -n 3 "$SCRATCH/output" | head -n 1)"
	[[ $size -eq $((TMP_MB * 1024)) && $inodes -le $((TMP_MB * 256 + 1024)) ]]
	[[ $(tail -n 1 "$SCRATCH/output") -le $((FILE_MB * 1024 * 1024)) ]]
	census >"$SCRATCH/after"
	diff "$SCRATCH/before" "$SCRATCH/after"
}

@test "bomb of temporary files" {
	[[ $(id -u) -ne 0 ]] || temporary root
	temporary user
}

@test "a bomb that outlasts its time ends with all its processes, and the status says so" {
	local profile
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		run launch user "profile=\"$profile\"" timeout_secs=1 -- stress-ng --quiet --timeout 30 --fork 8 --vm 2 --vm-bytes 32M
		[[ $status -eq 124 && $(status '"\(.exit) \(.timed_out)"') == "null true" ]]
		census >"$SCRATCH/after"
		diff "$SCRATCH/before" "$SCRATCH/after"
	done
}

@test "a command that spins ends by its processor time, and the status says so" {
	LIMITS='limits={"cpu_secs":1}'
	local profile
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		run launch user "profile=\"$profile\"" -- perl -e '1 while 1'
		[[ $status -eq $((128 + 24)) || $status -eq $((128 + 9)) ]]
		[[ $(status .limit.cpu_secs) -eq 1 ]]
		[[ $(status .signal) -eq $((status - 128)) ]]
		[[ $(status .cpu_ms) -ge 500 && $(status .cpu_ms) -le 3000 ]]
	done
}

@test "a file that grows too far ends its command by a signal, and the status says so" {
	local profile
	for profile in strict hardened; do
		[[ $profile == strict ]] || need_hardened
		run launch user "profile=\"$profile\"" -- perl -e 'open F, ">big"; 1 while syswrite F, "x" x 65536'
		[[ $status -eq $((128 + 25)) && $(status .signal) -eq 25 && $(status .limit.file_mb) -eq $FILE_MB ]]
		[[ $(stat -c %s "$WS/big") -eq $((FILE_MB * 1024 * 1024)) ]]
	done
}
