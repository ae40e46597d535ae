#include "broker/restrain.h"

#include "base/caps.h"
#include "base/landlock.h"
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

uint64_t restrain_descriptors(void)
{
	struct rlimit limit = {256, 256};
	getrlimit(RLIMIT_NOFILE, &limit);
	struct rlimit raised = {limit.rlim_max, limit.rlim_max};
	return setrlimit(RLIMIT_NOFILE, &raised) < 0 ? limit.rlim_cur : raised.rlim_cur;
}

int restrain_inherited(const struct options *o, struct err *e)
{
	int null_fd = open("/dev/null", O_RDWR), last = 2;
	if (null_fd < 0)
		return err_errno(e, "cannot open /dev/null");
	for (size_t i = 0; i < o->fd_count; i++) {
		if (fcntl(o->fds[i], F_GETFD) < 0 || o->fds[i] == null_fd)
			return err_set(e, "descriptor %d is not open", o->fds[i]);
		last = o->fds[i] > last ? o->fds[i] : last;
	}
	for (int fd = 0; fd < 2; fd++)
		if (!options_names(o, fd))
			dup2(null_fd, fd);
	for (int fd = 3; fd < last; fd++)
		if (!options_names(o, fd))
			close(fd);
	if (close_range((unsigned)last + 1, ~0u, 0) < 0)
		return err_errno(e, "cannot close inherited descriptors");
	return 0;
}

/* --- Landlock ---------------------------------------------------------------------------- */

static const char *const readable[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
	"/etc/gai.conf", "/etc/host.conf", "/etc/services", "/run/systemd/resolve",
	"/run/NetworkManager", "/run/resolvconf"};

/* Where Landlock is missing, seccomp still leaves no way to write or execute a file, nor a socket
 * to listen on. */
static int enter_landlock(const struct options *o, const char **weakness, struct err *e)
{
	int abi = ll_abi(), bad = 0;
	*weakness = abi < 1 ? "no Landlock on this kernel: the broker can read files, and seccomp "
			      "alone confines it"
		    : abi < 4 ? "this kernel's Landlock has no rules for ports: the broker can "
				"connect to any"
			      : NULL;
	if (abi < 1)
		return 0;
	struct ll_ruleset all = {.handled_fs = LL_FS_ALL,
		.handled_net = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP,
		.scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL};
	AUTO_FD int ruleset = ll_create(abi, all);
	if (ruleset < 0)
		return err_errno(e, "cannot create a Landlock ruleset");
	for (size_t i = 0; i < ARRAY_LEN(readable); i++) {
		AUTO_FD int fd = open(readable[i], O_PATH | O_CLOEXEC);
		struct ll_path rule = {.allowed = LL_FS_READ_FILE, .parent_fd = fd};
		if (fd >= 0) /* what is absent needs no rule */
			bad |= ll_add(ruleset, LL_RULE_PATH_BENEATH, &rule);
	}
	for (size_t i = 0; abi >= 4 && i < o->port_count; i++) {
		uint64_t rule[2] = {LL_NET_CONNECT_TCP, o->ports[i]};
		bad |= ll_add(ruleset, LL_RULE_NET_PORT, rule);
	}
	if (bad || ll_restrict(ruleset) < 0)
		return err_errno(e, "cannot enter a Landlock domain");
	return 0;
}

/* --- seccomp ----------------------------------------------------------------------------- */

/* What the event loop, libcurl's dialling, glibc's resolver and its threads use. */
static const char *const calls_allowed[] = {"read", "write", "readv", "writev", "pread64", "close",
	"lseek", "fstat", "newfstatat", "stat", "statx", "access", "faccessat", "faccessat2",
	"readlink", "readlinkat", "recvfrom", "recvmsg", "recvmmsg", "accept4", "sendto", "sendmsg",
	"sendmmsg", "splice", "connect", "bind", "shutdown", "getsockname", "getpeername",
	"getsockopt", "setsockopt", "epoll_ctl", "epoll_wait", "epoll_pwait", "poll", "ppoll",
	"pipe2", "eventfd2", "fcntl", "dup", "brk", "munmap", "mremap", "madvise", "futex",
	"sched_yield", "sched_getaffinity", "set_robust_list", "rseq", "getpid", "gettid", "tgkill",
	"getuid", "geteuid", "getgid", "getegid", "uname", "sysinfo", "getrandom", "clock_gettime",
	"clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "rt_sigaction",
	"rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "membarrier", "exit",
	"exit_group"};
/* A broker never does these: whoever tries is not the broker any more. */
static const char *const calls_fatal[] = {
	"execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"};

#define IS(arg, value)           SCMP_CMP64(arg, SCMP_CMP_EQ, value, 0)
#define MASKED(arg, mask, value) SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, mask, value)
#define OPENS_FOR_WRITING        (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)
/* AF_INET and AF_INET6 differ in one bit. */
#define INTERNET MASKED(0, ~(uint64_t)(AF_INET ^ AF_INET6), AF_INET &AF_INET6)

/* Allowed when every test holds. These only widen, so comparing all 64 bits is the strict way. */
static const struct {
	const char *name;
	unsigned count;
	struct scmp_arg_cmp tests[3];
} argument_rules[] = {
	{"openat", 1, {MASKED(2, OPENS_FOR_WRITING, O_RDONLY)}},
	{"open", 1, {MASKED(1, OPENS_FOR_WRITING, O_RDONLY)}},
	{"mmap", 1, {MASKED(2, PROT_EXEC, 0)}},
	{"mprotect", 1, {MASKED(2, PROT_EXEC, 0)}},
	{"clone", 1, {MASKED(0, CLONE_VM | CLONE_THREAD, CLONE_VM | CLONE_THREAD)}},
	{"socketpair", 1, {IS(0, AF_UNIX)}},
	{"socket", 3, {INTERNET, MASKED(1, 0xf, SOCK_STREAM), IS(2, IPPROTO_TCP)}},
	{"socket", 3, {INTERNET, MASKED(1, 0xf, SOCK_STREAM), IS(2, 0)}},
	{"socket", 3, {INTERNET, MASKED(1, 0xf, SOCK_DGRAM), IS(2, IPPROTO_UDP)}},
	{"socket", 3, {INTERNET, MASKED(1, 0xf, SOCK_DGRAM), IS(2, 0)}},
	{"socket", 3, {IS(0, AF_NETLINK), MASKED(1, 0xf, SOCK_RAW), IS(2, NETLINK_ROUTE)}},
	{"ioctl", 1, {IS(1, 0x5421)}}, /* FIONBIO */
	{"ioctl", 1, {IS(1, 0x541b)}}, /* FIONREAD, glibc's resolver */
	{"prctl", 1, {IS(0, PR_SET_NAME)}},
};
_Static_assert((AF_INET & AF_INET6) == AF_INET && ((AF_INET ^ AF_INET6) == 8), "one bit");

static int add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned count,
	const struct scmp_arg_cmp *tests)
{
	int number = seccomp_syscall_resolve_name(name);
	return number < 0 ? 0 : seccomp_rule_add_array(filter, action, number, count, tests);
}

/* Anything else does not exist, so that libraries fall back. */
static int enter_seccomp(struct err *e)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!filter)
		return err_set(e, "out of memory");
	int bad = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	bad |= seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < ARRAY_LEN(calls_allowed); i++)
		bad |= add(filter, SCMP_ACT_ALLOW, calls_allowed[i], 0, NULL);
	for (size_t i = 0; i < ARRAY_LEN(calls_fatal); i++)
		bad |= add(filter, SCMP_ACT_KILL_PROCESS, calls_fatal[i], 0, NULL);
	for (size_t i = 0; i < ARRAY_LEN(argument_rules); i++)
		bad |= add(filter, SCMP_ACT_ALLOW, argument_rules[i].name, argument_rules[i].count,
			argument_rules[i].tests);
	int loaded = bad ? -EINVAL : seccomp_load(filter);
	seccomp_release(filter);
	errno = -loaded;
	return loaded < 0 ? err_errno(e, "cannot load the seccomp filter") : 0;
}

int restrain(const struct options *o, const char **weakness, struct err *e)
{
	static const struct rlimit none = {0, 0};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
		setrlimit(RLIMIT_CORE, &none) < 0 || setrlimit(RLIMIT_MSGQUEUE, &none) < 0 ||
		setrlimit(RLIMIT_MEMLOCK, &none) < 0)
		return err_errno(e, "cannot set no_new_privs, undumpable and lower limits");
	return caps_drop(e) < 0 || enter_landlock(o, weakness, e) < 0 ? -1 : enter_seccomp(e);
}
