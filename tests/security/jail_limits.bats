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
