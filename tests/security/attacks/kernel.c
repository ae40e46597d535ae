/*
 * Attempts on the kernel itself: namespaces, calls of other architectures, calls that no command
 * needs. Those that would do harm are made with arguments that the kernel refuses later: reaching
 * that refusal is success.
 */
#include "tests/security/attacks/attack.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Success, or a refusal of the arguments: the call was reached. */
static int reached(long result)
{
	if (result >= 0)
		return 0;
	switch (errno) {
	case EINVAL:
	case E2BIG:
	case EFAULT:
	case EBADF:
	case ENOENT:
	case ENOEXEC:
	case ENOKEY:
	case ENOTBLK:
	case ENODEV: return 0;
	default: return errno;
	}
}

int userns_unshare(void)
{
	return answer(unshare(CLONE_NEWUSER));
}

int userns_clone(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(0);
	return answer(pid);
}

int userns_clone3(void)
{
	unsigned long long args[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
	long pid = syscall(SYS_clone3, args, sizeof(args));
	if (!pid)
		_exit(0);
	return answer(pid);
}

int ns_setns(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY);
	return answer(setns(fd, 0));
}

int ns_mount(void)
{
	return answer(unshare(CLONE_NEWNS));
}

#if defined(__x86_64__)
static void survive(int number)
{
	(void)number;
}

/* A host without these calls: so end all that make one. */
static void lacking(int number)
{
	(void)number;
	_exit(ENOSYS);
}

int call_int80(void)
{
	long result;
	signal(SIGSYS, survive);
	signal(SIGSEGV, lacking);
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid */) : "memory");
	return 0;
}

int call_x32(void)
{
	signal(SIGSYS, survive);
	syscall(0x40000000 | SYS_getpid);
	return 0;
}
#else
int call_int80(void)
{
	return KILLED;
}

int call_x32(void)
{
	return KILLED;
}
#endif

int call_io_uring(void)
{
	char room[256] = {0};
	return answer(syscall(SYS_io_uring_setup, 4, room));
}

int call_io_setup(void)
{
	unsigned long context = 0;
	return answer(syscall(SYS_io_setup, 1, &context));
}

int call_listener(void)
{
	struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog program = {1, &allow};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return answer(syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

int call_userfaultfd(void)
{
	return answer(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
}

int call_bpf(void)
{
	char room[128] = {0};
	return reached(syscall(SYS_bpf, 5 /* BPF_PROG_LOAD */, room, sizeof(room)));
}

int call_perf(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	return answer(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

int call_fanotify(void)
{
	return answer(syscall(SYS_fanotify_init, 0, 0));
}

int call_fanotify_own(void)
{
	return answer(syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, 0));
}

int call_keyctl(void)
{
	return reached(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1));
}

int call_add_key(void)
{
	return answer(
		syscall(SYS_add_key, "user", "agent6-attack", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

int call_request_key(void)
{
	return reached(syscall(SYS_request_key, "user", "agent6-attack", NULL, 0));
}

int keyring_read(void)
{
	char text[64];
	long key = syscall(
		SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", target("KEY"), 0);
	if (key < 0)
		return errno;
	return answer(syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof(text)));
}

int call_kexec(void)
{
	return reached(syscall(SYS_kexec_load, 0, 1ul << 20, NULL, ~0ul));
}

int call_module(void)
{
	return reached(syscall(SYS_init_module, NULL, 0, ""));
}

int call_reboot(void)
{
	return reached(syscall(SYS_reboot, 0, 0, 0, NULL));
}

int call_swapon(void)
{
	return reached(syscall(SYS_swapon, "/nonexistent", 0));
}

int call_acct(void)
{
	return reached(syscall(SYS_acct, "/nonexistent"));
}

int call_syslog(void)
{
	return answer(syscall(SYS_syslog, 10 /* size of the buffer */, NULL, 0));
}

int call_sethostname(void)
{
	char name[65];
	return gethostname(name, sizeof(name)) ? errno : answer(sethostname(name, strlen(name)));
}

int call_settime(void)
{
	struct timespec never = {-1, -1};
	return reached(syscall(SYS_clock_settime, CLOCK_REALTIME, &never));
}

int call_adjtimex(void)
{
	struct timex query = {0};
	return answer(adjtimex(&query));
}

int call_quotactl(void)
{
	return reached(syscall(SYS_quotactl, 0x80000100u /* Q_SYNC */, NULL, 0, NULL));
}

int call_mempolicy(void)
{
	return answer(syscall(SYS_set_mempolicy, 0, NULL, 0));
}

int call_memfd_secret(void)
{
	return answer(syscall(447, 0));
}

int call_sched_fifo(void)
{
	struct sched_param param = {.sched_priority = 1};
	return answer(sched_setscheduler(0, SCHED_FIFO, &param));
}

int call_sched_attr(void)
{
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t rest[3];
	} fifo = {.size = 48, .policy = SCHED_FIFO, .priority = 1};
	return answer(syscall(SYS_sched_setattr, 0, &fifo, 0));
}

int call_io_priority(void)
{
	enum { WHO_PROCESS = 1, CLASS_REAL_TIME = 1 << 13 };
	return answer(syscall(SYS_ioprio_set, WHO_PROCESS, 0, CLASS_REAL_TIME));
}

int call_prctl_mm(void)
{
	unsigned size;
	return reached(prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0));
}

int caps_left(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	syscall(SYS_capget, &header, caps);
	unsigned any = caps[0].permitted | caps[0].effective | caps[0].inheritable |
		       caps[1].permitted | caps[1].effective | caps[1].inheritable;
	for (int cap = 0; cap < 40; cap++)
		any |= prctl(PR_CAPBSET_READ, cap) == 1;
	return any ? 0 : EPERM;
}

int caps_new(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) ? EPERM : 0;
}

int id_hostname(void)
{
	char name[65] = "";
	gethostname(name, sizeof(name));
	return strcmp(name, target("HOST")) != 0 ? ENOENT : 0;
}

int id_cgroup(void)
{
	char at[64] = "";
	if (readlink("/proc/self/ns/cgroup", at, sizeof(at) - 1) < 0)
		return errno;
	return strcmp(at, target("NS_cgroup")) != 0 ? ENOENT : 0;
}

int caps_raise(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	syscall(SYS_capget, &header, caps);
	caps[0].inheritable |= 1u << CAP_NET_RAW;
	if (syscall(SYS_capset, &header, caps))
		return errno;
	return answer(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0));
}
