# The limits at their defaults: real programs work within them, and a command that one of them stopped is told which.
load jail

setup() {
	jail_setup
}

both() { # COMMAND...: in each profile that this host has
	local profile
	for profile in strict hardened; do
		[[ $profile == strict ]] || can_harden || continue
		"$@" "profile=\"$profile\"" 'allow_root_jail=true' || return
	done
}

threads() {
	[[ $(user_jail "$@" -- python3 -c 'if True:
		import concurrent.futures, threading
		end = threading.Event()
		many = [threading.Thread(target=end.wait) for i in range(200)]
		[thread.start() for thread in many]
		end.set()
		with concurrent.futures.ThreadPoolExecutor(64) as pool:
			print(len(many), sum(pool.map(int, range(100))))') == "200 4950" ]]
	[[ $(user_jail "$@" -- sh -c 'ulimit -s; ulimit -Hs') == $'8192\n65536' ]]
}

@test "two hundred threads and a pool of 64 fit into the defaults" {
	need python3
	both threads
}

terabytes() {
	[[ $(user_jail "$@" -- python3 -c 'if True:
		import os, signal
		signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
		try:
			os.ftruncate(os.memfd_create("reserved"), 2048 << 30)
		except OSError as error:
			print(error.errno)') == 27 ]]
}

@test "a runtime that reserves terabytes is told that it may not, and lives" {
	need python3
	both terabytes
}

# The launcher as the user of the test, WHO, and with LIMITS.
limited() { # WHO FIELDS... -- CMD...
	local launch=jail
	[[ $1 == root ]] || launch=user_jail
	[[ $1 != root ]] || chown -R root: "$WS"
	ended=0
	"$launch" "limits=$LIMITS" "${@:2}" </dev/null >"$SCRATCH/out" 2>&1 || ended=$?
	echo "$*: $ended, $(cat "$SCRATCH/out" "$SCRATCH/status")"
}

# Memory that no limit of a process counts, a quarter of a GiB of it; then there is time to be found.
hog='if True:
	import ctypes, mmap, os, sys, threading, time
	size = 256 << 20
	libc = ctypes.CDLL(None)
	def shared():
		memory = mmap.mmap(-1, size)
		for at in range(0, size, 4096):
			memory[at] = 1
		return memory
	def memory_file(fd, most=size):
		while os.fstat(fd).st_size < most:
			os.write(fd, b"x" * (1 << 20))
	def forks():
		for i in range(8):
			if not os.fork():
				kept = b"x" * (size // 8)
				time.sleep(60)
	def segment():
		libc.shmat.restype = ctypes.c_void_p
		at = libc.shmat(libc.shmget(0, ctypes.c_size_t(size), 0o1600), None, 0)
		ctypes.memset(at, 1, size)
		libc.shmdt(ctypes.c_void_p(at))
	def headless():
		threading.Thread(target=lambda: (time.sleep(0.2), globals().update(kept=shared()), time.sleep(60))).start()
		libc.pthread_exit(None)
	kinds = {"shared": shared, "memfd": lambda: memory_file(os.memfd_create("x")), "forks": forks,
		"segment": segment, "headless": headless,
		"shm": lambda: (memory_file(os.open("/dev/shm/x", os.O_RDWR | os.O_CREAT, 0o600), size // 4), b"x" * (size // 4))}
	kept = kinds[sys.argv[1]]()
	time.sleep(60)'

bounded() { # WHO PROFILE KIND...
	local who=$1 profile=$2 kind
	LIMITS='{"memory_mb":100,"tmp_mb":512}'
	for kind in "${@:3}"; do
		limited "$who" "profile=\"$profile\"" 'allow_root_jail=true' -- python3 -c "$hog" "$kind"
		[[ $ended -eq 137 && $(status '"\(.signal) \(.timed_out) \(.limit.memory_mb)"') == "9 false 100" ]]
	done
}

@test "memory_mb bounds all that a strict jail holds together" {
	need python3
	bounded user strict shared memfd forks segment headless shm
	[[ $(id -u) -ne 0 ]] || bounded root strict shared memfd
}

@test "memory_mb bounds all that a hardened jail holds together" {
	need python3
	need_hardened
	bounded user hardened shared memfd forks headless
	[[ $(id -u) -ne 0 ]] || bounded root hardened shared memfd
}

@test "pages that processes share count once" {
	need python3
	LIMITS='{"memory_mb":150}'
	limited user -- python3 -c 'if True:
		import os, time
		kept = b"x" * (50 << 20)
		for i in range(6):
			if not os.fork():
				time.sleep(2)
				os._exit(0)
		time.sleep(2)'
	[[ $ended -eq 0 && $(status .limit) == null ]]
}

stopped() { # LIMIT VALUE STATUS CMD...: as told, in both profiles
	local profile
	LIMITS="{\"$1\":$2}"
	for profile in strict hardened; do
		[[ $profile == strict ]] || can_harden || continue
		limited user "profile=\"$profile\"" -- "${@:4}"
		[[ $ended -eq $3 && $(status ".limit.$1") -eq $2 ]]
	done
}

@test "a limit that stopped a command is named, with its value" {
	stopped cpu_secs 1 152 perl -e '1 while 1'
	stopped cpu_secs 1 152 sh -c "perl -e '1 while 1'; exit \$?"
	stopped cpu_secs 1 137 perl -e '$SIG{XCPU} = "IGNORE"; 1 while 1'
	stopped file_mb 1 153 perl -e 'open F, ">big"; 1 while syswrite F, "x" x 65536'
	LIMITS='{"processes":30}'
	limited user -- perl -e 'while (defined($p = fork)) { $p or sleep, exit } exit 3'
	[[ $ended -eq 3 && $(status .limit.processes) -eq 30 ]]
	limited user -- sh -c 'exit 3'
	[[ $ended -eq 3 && $(status .limit) == null ]]
}

@test "limits.memory_by refuses what bounds less" {
	local by
	for by in any watch cgroup; do
		LIMITS="{\"memory_by\":\"$by\"}"
		limited user -- true
		[[ $ended -eq 0 || $by != any ]]
		if [[ $by == cgroup && $(status .layers.memory) != cgroup ]]; then
			[[ $ended -eq 125 && $(status .stage) == require && $(status .error) == *"limits.memory_by asks for cgroup"* ]]
		elif [[ $(status .layers.proc) != none ]]; then
			[[ $ended -eq 0 ]]
		fi
	done
}

@test "limits.memory_by gets root a control group of version 1, too (root)" {
	need_root
	need_cgroup memory
	LIMITS='{"memory_by":"cgroup","memory_mb":100}'
	limited root -- python3 -c "$hog" shared
	[[ $ended -eq 137 && $(status '"\(.layers.memory) \(.limit.memory_mb)"') == "cgroup 100" ]]
	need_hardened
	chown "$TEST_USER:" "$WS"
	local at
	# All that it starts is in the group, which goes with the command.
	for at in 'exec python3 -c "$0" shared' '(sleep 0.2; exec python3 -c "$0" shared) & wait $!; exit $?'; do
		run jail 'profile="hardened"' "limits=$LIMITS" -- sh -c "$at" "$hog"
		echo "$status, $(cat "$SCRATCH/status")"
		[[ $status -eq 137 && $(status '"\(.layers.memory) \(.layers.uid) \(.limit.memory_mb)"') == "cgroup owner 100" ]]
	done
	! find /sys/fs/cgroup -name 'agent6-jail-*' -newer "$SCRATCH/before" | grep .
}

@test "a jail takes at most half of the caller's descriptors, and of the user's watches" {
	need python3
	LIMITS='{}'
	[[ $(id -u) -ne 0 ]] || chown -R "$TEST_USER:" "$WS"
	run run_jail "as_user prlimit --nofile=300:4096" -- sh -c 'ulimit -n; ulimit -Hn'
	[[ $output == $'150\n150' ]]
	jail -- cat /proc/sys/user/max_inotify_instances /proc/sys/user/max_inotify_watches >"$SCRATCH/out"
	[[ $(status .layers.watches) == true ]]
	[[ $(<"$SCRATCH/out") == "$(($(</proc/sys/fs/inotify/max_user_instances) / 2))"$'\n'"$(($(</proc/sys/fs/inotify/max_user_watches) / 2))" ]]
}
