/*
 * Resource limits, and a session and a keyring of the command's own.
 *
 * Attack: a bomb (processes, memory, descriptors, files), a core dump piped into a root program on
 * the host, keystrokes pushed into the user's terminal, keys of the user's session.
 */
#include "jail/jail.h"
#include <dirent.h>

/* A user has 800 KiB of message queues. */
enum { KEYCTL_JOIN = 1, PENDING_SIGNALS = 4096, QUEUE_BYTES = 400 * 1024 };

/* The soft limit is the size of each thread's stack, all of which counts as its process's memory; a
 * program with deep recursion may raise it. */
enum { STACK_MIB = 8, STACK_MOST_MIB = 64 };

struct limit {
	unsigned what;
	const char *name;
	uint64_t hard, soft; /* soft 0: the same as hard */
};

static int set_limit(const struct limit *wanted, struct err *e)
{
	struct rlimit limit;
	uint64_t soft = wanted->soft ? wanted->soft : wanted->hard;
	if (getrlimit(wanted->what, &limit))
		return err_errno(e, "cannot read the %s limit", wanted->name);
	/* A lower limit stays. For descriptors under way in sockets the kernel counts all of a
	 * user's processes against the sender's limit, so half of the caller's limit is left to the
	 * caller. */
	uint64_t most = wanted->what == RLIMIT_NOFILE ? limit.rlim_cur / 2 : limit.rlim_max;
	limit.rlim_max = wanted->hard < most ? wanted->hard : most;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	return setrlimit(wanted->what, &limit)
		       ? err_errno(e, "cannot set the %s limit", wanted->name)
		       : 0;
}

/* Counts the tasks of the command's user. Without a user namespace the kernel counts everything
 * that the user runs, and a desktop alone has more tasks than a command may have; root's tasks it
 * does not limit. Each thread is a link of its process's task directory. Processes hidden from
 * their own user are not counted, which leaves the command less. */
int limits_count(struct jail *jail, struct err *e)
{
	(void)e;
	char path[300];
	struct stat st;
	bool unlimited = jail->root == ROOT_HOST && !jail->host_uid;
	DIR *all = unlimited ? NULL : opendir("/proc");
	jail->users_tasks = 0; /* a resident launcher may have counted before */
	for (const struct dirent *d; all && (d = readdir(all));) {
		snprintf(path, sizeof(path), "%s/task", d->d_name);
		if (*d->d_name <= '9' && !fstatat(dirfd(all), d->d_name, &st, 0) &&
			st.st_uid == jail->host_uid && !fstatat(dirfd(all), path, &st, 0) &&
			st.st_nlink > 2)
			jail->users_tasks += st.st_nlink - 2;
	}
	if (all)
		closedir(all);
	return 0;
}

/* Applies the limits. Core limit 1, not 0: with 0 a core_pattern pipe still gets the core; 1
 * prevents that and is too small for a file. Memory is limited as private writable data: a limit on
 * address space would stop every runtime that reserves more than it uses. */
int limits_apply(struct jail *jail, struct err *e)
{
	const struct policy *l = &jail->policy;
	bool grouped = !strcmp(jail->report->layers.memory, "cgroup");
	const struct limit wanted[] = {
		{RLIMIT_CORE, "core file", 1, 0},
		/* At the soft limit a signal that tells why; a second later the end. */
		{RLIMIT_CPU, "CPU", l->cpu_secs ? (uint64_t)l->cpu_secs + 1 : RLIM_INFINITY,
			(uint64_t)l->cpu_secs},
		{RLIMIT_DATA, "memory", grouped ? RLIM_INFINITY : (uint64_t)l->memory_mb * MIB, 0},
		{RLIMIT_FSIZE, "file size", (uint64_t)l->file_mb * MIB, 0},
		{RLIMIT_NOFILE, "open files", (uint64_t)l->open_files, 0},
		{RLIMIT_NPROC, "process", (uint64_t)l->processes + jail->users_tasks, 0},
		{RLIMIT_STACK, "stack", (uint64_t)STACK_MOST_MIB * MIB, (uint64_t)STACK_MIB * MIB},
		{RLIMIT_MEMLOCK, "locked memory", 64 * 1024, 0},
		{RLIMIT_MSGQUEUE, "message queue", QUEUE_BYTES, 0},
		{RLIMIT_RTPRIO, "real-time priority", 0, 0},
		{RLIMIT_NICE, "nice", 0, 0},
		{RLIMIT_SIGPENDING, "pending signals", PENDING_SIGNALS, 0},
	};
	for (size_t i = 0; LAYER_ON("limits") && i < ARRAY_LEN(wanted); i++)
		if (set_limit(&wanted[i], e))
			return -1;
	return 0;
}

/* Joins a new session and keyring. Kernels without keyrings, and containers that forbid them, have
 * nothing to join; seccomp closes the calls in any case. */
int session_apply(struct jail *jail, struct err *e)
{
	sigset_t none;
	sigemptyset(&none);
	if ((LAYER_ON("session") && setsid() < 0) ||
		sigprocmask(SIG_SETMASK, &none, NULL)) /* PID 1 has blocked a signal */
		return err_errno(e, "cannot start a session");
	jail->report->layers.keyring =
		LAYER_ON("keyring") && syscall(SYS_keyctl, KEYCTL_JOIN, NULL, 0, 0, 0) >= 0;
	return 0;
}
