/*
 * The confined agent's system calls, asked of the kernel: every number that the list does not have
 * is absent or refused, what it has is bound to its arguments, and a filter that did not take is
 * noticed.
 */
#include "agent/self_confine.h"
#include "tests/kit/foreign.h"
#include "tests/kit/refuses.h"
#include <asm/ioctls.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NUMBERS = 1024, ALLOWED = 0, URETPROBE = 335, UPROBE = 336, NOT_CONFINED = 250 };

/* The answer to each call; ENOSYS unless noted. */
static int answers[NUMBERS];

static void note(const char *name, int answer)
{
	int number = seccomp_syscall_resolve_name(name);
	if (number >= 0 && number < NUMBERS)
		answers[number] = answer;
}

static void read_list(void)
{
	for (size_t i = 0; i < NUMBERS; i++)
		answers[i] = ENOSYS;
#define CALL(name)            note(#name, ALLOWED);
#define WHEN(name, ...)       note(#name, ALLOWED);
#define BOTH(name, ...)       note(#name, ALLOWED);
#define REFUSED(name, number) note(#name, number);
#include "agent/self_confine_calls.def"
	/* The kernel exempts these from filters and kills whoever calls them from elsewhere. */
	answers[URETPROBE] = answers[UPROBE] = ALLOWED;
}

static int enter(struct err *e)
{
	json_auto_t *layers = json_object();
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || self_confine_seccomp(layers, e) ? -1 : 0;
}

/* The exit status of `body`, run confined; 128 and the signal. */
static int run(int (*body)(void))
{
	int status;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct err e = ERR_NONE;
		int result = enter(&e) ? NOT_CONFINED : body();
		fflush(stdout);
		_exit(result);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int sweep(void)
{
	int wrong = 0;
	for (long number = 0; number < NUMBERS; number++) {
		if (answers[number] == ALLOWED)
			continue;
		errno = 0;
		if (syscall(number, 0, 0, 0, 0, 0, 0) == -1 && errno == answers[number])
			continue;
		diag("number %ld: %s, want %s", number, strerror(errno), strerror(answers[number]));
		wrong++;
	}
	return wrong < 100 ? wrong : 100;
}

/* Written out, so that a mistake in the list cannot agree with itself. */
static int known(void)
{
	static char *const argv[] = {NULL};
	return refuses("execve", syscall(SYS_execve, "/bin/true", argv, argv), EPERM) +
	       refuses("socket", socket(AF_UNIX, SOCK_STREAM, 0), EAFNOSUPPORT) +
	       refuses("connect", syscall(SYS_connect, 0, "", 0), EACCES) +
	       refuses("bind", bind(0, NULL, 0), EACCES) +
	       refuses("ptrace", syscall(SYS_ptrace, 0, 0, 0, 0), EPERM) +
	       refuses("unshare", unshare(CLONE_NEWNET), EPERM) + ABSENT(SYS_clone3, 0, 0) +
	       ABSENT(SYS_vfork) + ABSENT(SYS_io_uring_setup, 1, 0) +
	       ABSENT(SYS_memfd_create, "x", 0) + ABSENT(SYS_pidfd_open, 1, 0) +
	       ABSENT(SYS_sendmmsg, 0, 0, 0, 0) + ABSENT(SYS_seccomp, 1, 0, 0);
}

static int arguments(void)
{
	const unsigned long rx = PROT_READ | PROT_EXEC, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	const unsigned long spaces = CLONE_NEWUSER | CLONE_NEWNET;
	struct rlimit limit;
	static char page[4096] __attribute__((aligned(4096)));
	return ABSENT(SYS_mmap, 0, 4096, rx, anonymous, -1, 0) +
	       ABSENT(SYS_mprotect, page, sizeof(page), rx) +
	       ABSENT(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) +
	       ABSENT(SYS_clone, spaces | SIGCHLD, 0, 0, 0, 0) +
	       ABSENT(SYS_clone, (unsigned long)CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0) +
	       ABSENT(SYS_socketpair, AF_INET, SOCK_STREAM, 0, page) +
	       ABSENT(SYS_socketpair, WIDE | AF_UNIX, SOCK_STREAM, 0, page) +
	       ABSENT(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, page) +
	       ABSENT(SYS_socketpair, AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, page) +
	       ABSENT(SYS_socketpair, AF_UNIX, WIDE | SOCK_STREAM, 0, page) +
	       ABSENT(SYS_ioctl, 0, TIOCSTI, "x") + ABSENT(SYS_ioctl, 0, WIDE | TCGETS, page) +
	       ABSENT(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0) +
	       ABSENT(SYS_prctl, PR_SET_SECCOMP, 1, 0, 0, 0) +
	       ABSENT(SYS_prlimit64, 1, RLIMIT_CORE, 0, &limit);
}

/* Does what the loop does besides reading and writing. */
static int works(void)
{
	int pair[2], status = 1;
	struct rlimit limit = {1, 1};
	pid_t pid = fork();
	if (pid == 0)
		_exit(prctl(PR_SET_PDEATHSIG, SIGKILL) || setrlimit(RLIMIT_CPU, &limit));
	AUTO_FREE char *big = calloc(1, 64 << 20);
	AUTO_FD int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status || !big || fd < 0)
		return 1;
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	       socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
}

#ifdef __x86_64__
static int x32(void)
{
	syscall(0x40000000 | SYS_getpid);
	return 0;
}
#endif

/* A kernel that says yes to the filter and leaves it out. */
static int lied_to(void)
{
	struct err e = ERR_NONE;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	const struct scmp_arg_cmp old_way = {0, SCMP_CMP_EQ, PR_SET_SECCOMP, 0};
	if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(seccomp), 0) ||
		seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(prctl), 1, &old_way) ||
		seccomp_load(filter))
		return 2;
	seccomp_release(filter);
	return enter(&e) && strstr(e.text, "can still be made") ? 0 : 1;
}

static void test_teeth(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(lied_to());
	waitpid(pid, &status, 0);
	is(status, 0, "a filter that did not take is noticed");
}

int main(void)
{
	read_list();
	is(run(sweep), 0, "every other number is absent, or refused as the list says");
	is(run(known), 0, "no program, no socket, no name space, no other process");
	is(run(arguments), 0, "what is allowed for some arguments is absent for others");
	is(run(works), 0, "a child with limits, memory, files, a pair of sockets");
#ifdef __x86_64__
	is(run(foreign_call), 128 + foreign_end(), "a 32-bit call kills");
	is(run(x32), 128 + SIGSYS, "an x32 call kills");
#endif
	test_teeth();
	return tap_done();
}
