/*
 * Attempts on processes: the victim's, PID 1's and the own /proc, tracing, signals, daemons, the
 * terminal, bombs.
 */
#include "tests/security/attacks/attack.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t victim(void)
{
	return (pid_t)strtol(target("VICTIM"), NULL, 10);
}

static int open_proc(long pid, const char *file, int flags)
{
	char path[64], byte;
	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, file);
	int fd = open(path, flags);
	if (fd >= 0 && flags == O_RDONLY && !strcmp(file, "environ"))
		return answer(read(fd, &byte, 1));
	return answer(fd);
}

static int open_for_write(const char *path)
{
	return answer(open(path, O_WRONLY));
}

int proc_environ(void)
{
	return open_proc(victim(), "environ", O_RDONLY);
}

int proc_mem(void)
{
	return open_proc(victim(), "mem", O_RDONLY);
}

int proc_root(void)
{
	return open_proc(victim(), "root/etc/passwd", O_RDONLY);
}

/* Inside, PID 1 is the reaper; outside, the victim stands for it. */
static long first(void)
{
	return strtol(target("FIRST"), NULL, 10);
}

/* Waits until PID 1 has taken its filter, which it does while the command starts and after it has
 * given up its capabilities: as long as it has these, the kernel refuses a look at it. Returns
 * EPERM, an errno if its status cannot be read, or 0 if it has no filter after a second. */
static int await_filter(void)
{
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/%ld/status", first());
	for (int tries = 0; tries < 500; tries++) {
		int fd = open(path, O_RDONLY);
		ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		close(fd);
		if (len < 0)
			return errno;
		text[len] = '\0';
		if (strstr(text, "Seccomp:\t2"))
			return EPERM;
		usleep(2000);
	}
	return 0;
}

int proc_one(void)
{
	await_filter();
	return open_proc(first(), "environ", O_RDONLY);
}

int proc_one_exe(void)
{
	await_filter();
	return open_proc(first(), "exe", O_RDONLY);
}

/* Which numbers it has open nobody can know; to see one is enough. */
int proc_one_fd(void)
{
	char path[64], at[256];
	int result = ENOENT;
	await_filter();
	for (int fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%ld/fd/%d", first(), fd);
		if (readlink(path, at, sizeof(at)) >= 0)
			return 0;
		result = errno == ENOENT ? result : errno;
	}
	return result;
}

int proc_one_filter(void)
{
	return await_filter();
}

int proc_parent_environ(void)
{
	return open_proc(getppid(), "environ", O_RDONLY);
}

int proc_core_pattern(void)
{
	char text[256];
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY);
	ssize_t len = read(fd, text, sizeof(text));
	fd = open("/proc/sys/kernel/core_pattern", O_WRONLY);
	return fd < 0 ? errno : answer(write(fd, text, (size_t)(len > 0 ? len : 0)));
}

int proc_sysctl(void)
{
	return open_for_write("/proc/sys/kernel/printk");
}

int proc_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);
	return fd < 0 ? errno : answer(write(fd, "1000", 4));
}

int proc_self_mem(void)
{
	return open_for_write("/proc/self/mem");
}

int proc_fd_reopen(void)
{
	char path[4200];
	snprintf(path, sizeof(path), "%s/file", target("BUNDLE"));
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		return ENODEV;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return answer(open(path, O_RDWR));
}

int proc_kernel_memory(void)
{
	static const char *const files[] = {"/proc/kcore", "/proc/kpageflags", "/proc/kpagecount"};
	int result = ENODEV;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (open(files[i], O_RDONLY) >= 0)
			return 0;
		result = errno == ENOENT ? result : errno;
	}
	return result;
}

/* Keys of disks and tokens of a cloud's first boot are given so. */
int proc_boot_line(void)
{
	char byte;
	ssize_t len = read(open("/proc/cmdline", O_RDONLY), &byte, 1);
	return len ? answer(len) : ENODATA;
}

int proc_uid_map(void)
{
	return open_for_write("/proc/self/uid_map");
}

/* One of these is enough. */
int proc_self_files(void)
{
	static const char *const names[] = {"attr/current", "autogroup", "clear_refs", "comm",
		"coredump_filter", "gid_map", "loginuid", "projid_map", "sched", "setgroups",
		"timens_offsets", "timerslack_ns"};
	int result = ENODEV;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/self/%s", names[i]);
		if (!open_for_write(path))
			return 0;
		result = errno == ENOENT ? result : errno;
	}
	return result;
}

int proc_stdin(void)
{
	return answer(open("/proc/self/fd/0", O_RDWR | O_NOCTTY));
}

int sys_read(void)
{
	return answer(open("/sys/kernel", O_RDONLY | O_DIRECTORY));
}

int sys_write(void)
{
	return open_for_write("/sys/kernel/rcu_expedited");
}

int ptrace_victim(void)
{
	return answer(ptrace(PTRACE_SEIZE, victim(), 0, 0));
}

static pid_t sleeper(void)
{
	pid_t pid = fork();
	if (!pid) {
		sleep(5);
		_exit(0);
	}
	return pid;
}

int ptrace_child(void)
{
	pid_t pid = sleeper();
	int result = answer(ptrace(PTRACE_SEIZE, pid, 0, 0));
	kill(pid, SIGKILL);
	return result;
}

int vm_read(void)
{
	static char here[16], there[16];
	pid_t pid = sleeper();
	struct iovec to = {here, 16}, from = {there, 16};
	int result = answer(process_vm_readv(pid, &to, 1, &from, 1, 0));
	kill(pid, SIGKILL);
	return result;
}

int vm_advise(void)
{
	enum { ADVISE_PAGEOUT = 21 };
	static char here[4096] __attribute__((aligned(4096)));
	const struct iovec all = {here, sizeof(here)};
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return answer(syscall(SYS_process_madvise, pidfd, &all, 1, ADVISE_PAGEOUT, 0));
}

int vm_move(void)
{
	return answer(syscall(SYS_move_pages, 0, 0, NULL, NULL, NULL, 0));
}

int kcmp_victim(void)
{
	pid_t pid = sleeper();
	int result = answer(syscall(SYS_kcmp, getpid(), pid, 1 /* KCMP_VM */, 0, 0));
	kill(pid, SIGKILL);
	return result;
}

int pidfd_getfd(void)
{
	pid_t pid = sleeper();
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int result = answer(syscall(SYS_pidfd_getfd, pidfd, 1, 0));
	kill(pid, SIGKILL);
	return result;
}

int signal_victim(void)
{
	return answer(kill(victim(), SIGSTOP));
}

/* Above the command is its launcher; in a PID namespace, the first process there. */
int signal_launcher(void)
{
	return answer(kill(getppid(), SIGCONT));
}

int signal_pidfd(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, victim(), 0);
	return pidfd < 0 ? errno : answer(syscall(SYS_pidfd_send_signal, pidfd, SIGSTOP, NULL, 0));
}

int signal_queue(void)
{
	return answer(sigqueue(victim(), SIGSTOP, (union sigval){0}));
}

/* Process group 0 is the own one. A signal to it reaches its members in every PID namespace. */
int signal_group(void)
{
	pid_t group = getpgrp();
	if (group && group != (pid_t)strtol(target("GROUP"), NULL, 10))
		return EPERM;
	return answer(kill(0, SIGCONT));
}

int signal_owner(void)
{
	int ends[2];
	if (pipe(ends) || fcntl(ends[0], F_SETOWN, victim()))
		return errno;
	fcntl(ends[0], F_SETSIG, SIGSTOP);
	fcntl(ends[0], F_SETFL, O_ASYNC);
	return answer(write(ends[1], "x", 1));
}

int env_leak(void)
{
	return getenv("SECRET_OF_THE_CALLER") ? 0 : ENOENT;
}

static void become_daemon(void)
{
	setsid();
	if (fork())
		_exit(0);
	execl(target("SELF"), target("MARK"), "daemon", NULL);
	_exit(1);
}

int linger(void)
{
	pid_t pid = fork();
	if (!pid)
		become_daemon();
	waitpid(pid, NULL, 0);
	usleep(20000);
	return 0;
}

/* A chain that forks and dies, and ignores what can be ignored; ends by itself after a while. */
int linger_stubborn(void)
{
	pid_t pid = fork();
	if (pid) {
		usleep(20000);
		return 0;
	}
	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < 3000; i++) {
		if (fork())
			_exit(0);
		if (i % 100 == 99 && !fork())
			become_daemon();
	}
	_exit(0);
}

int tty_sti(void)
{
	return answer(ioctl(0, TIOCSTI, "x"));
}

int tty_sti_high(void)
{
	return answer(syscall(SYS_ioctl, 0, 0x100000000ul | TIOCSTI, "x"));
}

int tty_ctty(void)
{
	setsid();
	long result = ioctl(0, TIOCSCTTY, 0);
	return result && errno == EPERM && getsid(0) != getpid() ? EPERM : answer(result);
}

/* Tries it as the leader of a session, whose terminal a slave becomes when it opens one. */
int pty_sti(void)
{
	setsid();
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) || unlockpt(master))
		return errno;
	int slave = open(ptsname(master), O_RDWR);
	return answer(slave < 0 ? -1 : ioctl(slave, TIOCSTI, "x"));
}

int pty_host(void)
{
	struct stat st;
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (master < 0 || fstat(master, &st))
		return errno;
	char device[32];
	snprintf(device, sizeof(device), "%ju", (uintmax_t)st.st_dev);
	return strcmp(device, target("PTS")) ? ENOENT : 0; /* of another devpts */
}

int pty_caller(void)
{
	return answer(open("/proc/self/fd/1", O_RDONLY | O_NOCTTY));
}

int personality_exec(void)
{
	return answer(personality(READ_IMPLIES_EXEC));
}

int rlimit_raise(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	limit.rlim_max += limit.rlim_max != RLIM_INFINITY;
	long result = setrlimit(RLIMIT_MEMLOCK, &limit);
	/* A container's root may lack just this. */
	bool weak_root = prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 1 &&
			 prctl(PR_CAPBSET_READ, CAP_SYS_RESOURCE) == 0;
	return result && weak_root ? ENODEV : answer(result);
}

int limit_victim(void)
{
	return answer(prlimit(victim(), RLIMIT_CPU, &(struct rlimit){0, 0}, NULL));
}

/* One of these is enough. */
int tune_victim(void)
{
	enum { WHO_PROCESS = 1, CLASS_IDLE = 3 << 13 };
	const struct sched_param none = {0};
	const struct {
		uint32_t size, policy;
		uint64_t rest[5];
	} batch = {48, SCHED_BATCH, {0}};
	cpu_set_t all;
	memset(&all, 0xff, sizeof(all));
	const long results[] = {
		answer(setpriority(PRIO_PROCESS, (id_t)victim(), 19)),
		answer(syscall(SYS_ioprio_set, WHO_PROCESS, victim(), CLASS_IDLE)),
		answer(sched_setaffinity(victim(), sizeof(all), &all)),
		answer(sched_setparam(victim(), &none)),
		answer(sched_setscheduler(victim(), SCHED_BATCH, &none)),
		answer(syscall(SYS_sched_setattr, victim(), &batch, 0)),
	};
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (!results[i] || results[i] != results[0])
			return 0;
	return (int)results[0];
}

/* 0 would feed a pipe handler, anything from a page up a file. */
int core_dump(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_CORE, &limit);
	return limit.rlim_cur == 1 && limit.rlim_max == 1 ? EPERM : 0;
}

/* More than the 64 that it may have, and few enough to leave the user's other tests theirs. */
int use_forks(void)
{
	int result = 0;
	pid_t pids[150];
	size_t count = 0;
	for (; count < sizeof(pids) / sizeof(pids[0]); count++) {
		pids[count] = sleeper();
		if (pids[count] < 0) {
			result = errno;
			break;
		}
	}
	while (count)
		kill(pids[--count], SIGKILL);
	return result;
}

int use_forks_root(void)
{
	return use_forks();
}

int use_memory(void)
{
	size_t size = 256ul << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return errno;
	for (size_t i = 0; i < size; i += 4096)
		at[i] = 1;
	sleep(3); /* long enough for the watch to see it */
	return 0;
}

/* Holds shared memory for long enough that the watch sees it. */
int use_shared(void)
{
	size_t size = 256ul << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return errno;
	for (size_t i = 0; i < size; i += 4096)
		at[i] = 1;
	sleep(3);
	return 0;
}

/* Three quarters of those that a user may have, by processes of a few. */
int use_watches(void)
{
	enum { EACH = 32, PROCESSES_MOST = 48 };
	char text[32] = "";
	int fd = open("/proc/sys/fs/inotify/max_user_instances", O_RDONLY), result = 0;
	long most = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? strtol(text, NULL, 10) : 0;
	pid_t pids[PROCESSES_MOST];
	size_t count = 0, wanted = (size_t)most * 3 / 4 / EACH;
	int told[2];
	if (wanted > PROCESSES_MOST || !wanted || pipe(told))
		return ENOSYS;
	for (; !result && count < wanted; count++) {
		pids[count] = fork();
		if (pids[count])
			result = pids[count] < 0 ? errno : 0;
		for (int i = 0; !pids[count] && !result && i < EACH; i++)
			result = inotify_init() < 0 ? errno : 0;
		if (!pids[count] && write(told[1], &result, sizeof(result)))
			sleep(100);
		if (!result && read(told[0], &result, sizeof(result)) < 0)
			result = errno;
	}
	while (count)
		if (pids[--count] > 0)
			kill(pids[count], SIGKILL);
	return result;
}
