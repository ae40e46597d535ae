/*
 * The broker's own confinement, asked of the kernel: every call that its table does not have is
 * absent, what it has is bound to its arguments, whoever tries to run or to trace a program dies,
 * and Landlock leaves the resolver's files and the endpoints' ports.
 */
#include "base/landlock.h"
#include "broker/restrain.h"
#include "broker/restrain_table.h"
#include "tests/kit/foreign.h"
#include "tests/kit/refuses.h"
#include <arpa/inet.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NUMBERS = 1024, URETPROBE = 335, UPROBE = 336, NOT_CONFINED = 250, NOBODY = 65534 };
enum { MPTCP = 262, UDP_LITE = 136 };

static struct options options = {.ports = {DNS_PORT}, .port_count = 1};
static uint16_t other_port; /* somebody listens there */

static int enter(struct err *e)
{
	const char *weakness;
	return restrain(&options, &weakness, e);
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
	static bool listed[NUMBERS];
	int wrong = 0;
	/* The kernel exempts these from filters and kills whoever calls them from elsewhere. */
	listed[URETPROBE] = listed[UPROBE] = true;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		int number = seccomp_syscall_resolve_name(calls[i].call);
		if (number >= 0 && number < NUMBERS)
			listed[number] = true;
	}
	for (long number = 0; number < NUMBERS; number++) {
		errno = 0;
		if (listed[number] || (syscall(number, 0, 0, 0, 0, 0, 0) == -1 && errno == ENOSYS))
			continue;
		diag("number %ld: %s", number, strerror(errno));
		wrong++;
	}
	return wrong < 100 ? wrong : 100;
}

/* Written out, so that a mistake in the table cannot agree with itself. */
static int known(void)
{
	pid_t parent = getppid();
	return ABSENT(SYS_kill, parent, 0) + ABSENT(SYS_tgkill, parent, parent, 0) +
	       ABSENT(SYS_tkill, parent, 0) + ABSENT(SYS_clone3, 0, 0) + ABSENT(SYS_listen, 0, 1) +
	       ABSENT(SYS_unshare, CLONE_NEWUSER) + ABSENT(SYS_setns, 0, 0) +
	       ABSENT(SYS_mount, 0, 0, 0, 0, 0) + ABSENT(SYS_io_uring_setup, 1, 0) +
	       ABSENT(SYS_memfd_create, "x", 0) + ABSENT(SYS_pidfd_open, parent, 0) +
	       ABSENT(SYS_openat2, AT_FDCWD, "/", 0, 0) + ABSENT(SYS_unlinkat, AT_FDCWD, "x", 0) +
	       ABSENT(SYS_ftruncate, 1, 0) + ABSENT(SYS_seccomp, 1, 0, 0) +
	       ABSENT(SYS_setrlimit, 0, 0);
}

static int files(void)
{
	static const int flags[] = {O_WRONLY, O_RDWR, O_ACCMODE, O_CREAT, O_TRUNC, O_APPEND};
	int wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		wrong += ABSENT(SYS_openat, AT_FDCWD, "/dev/null", flags[i], 0600);
#ifdef SYS_open
		wrong += ABSENT(SYS_open, "/dev/null", flags[i], 0600);
#endif
	}
	return wrong;
}

static int sockets(void)
{
	int pair[2];
	return ABSENT(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, pair) +
	       ABSENT(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) +
	       ABSENT(SYS_socketpair, AF_INET, SOCK_STREAM, 0, pair) +
	       ABSENT(SYS_socketpair, WIDE | AF_UNIX, SOCK_STREAM, 0, pair) +
	       ABSENT(SYS_socket, AF_UNIX, SOCK_STREAM, 0) +
	       ABSENT(SYS_socket, AF_UNIX, SOCK_DGRAM, 0) +
	       ABSENT(SYS_socket, AF_INET, SOCK_STREAM, MPTCP) +
	       ABSENT(SYS_socket, AF_INET6, SOCK_STREAM, IPPROTO_SCTP) +
	       ABSENT(SYS_socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP) +
	       ABSENT(SYS_socket, AF_INET6, SOCK_DGRAM, UDP_LITE) +
	       ABSENT(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_TCP) +
	       ABSENT(SYS_socket, AF_INET, SOCK_SEQPACKET, 0) +
	       ABSENT(SYS_socket, WIDE | AF_INET, SOCK_STREAM, 0) +
	       ABSENT(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) +
	       ABSENT(SYS_socket, AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE) +
	       ABSENT(SYS_socket, AF_PACKET, SOCK_RAW, 0) +
	       ABSENT(SYS_socket, AF_VSOCK, SOCK_STREAM, 0);
}

static int arguments(void)
{
	const unsigned long rx = PROT_READ | PROT_EXEC, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	static char page[4096] __attribute__((aligned(4096)));
	return ABSENT(SYS_mmap, 0, 4096, rx, anonymous, -1, 0) +
	       ABSENT(SYS_mprotect, page, sizeof(page), rx) +
	       ABSENT(SYS_clone, SIGCHLD, 0, 0, 0, 0) +
	       ABSENT(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) +
	       ABSENT(SYS_clone, CLONE_THREAD, 0, 0, 0, 0) + ABSENT(SYS_ioctl, 0, TIOCSTI, "x") +
	       ABSENT(SYS_ioctl, 0, TCGETS, page) + ABSENT(SYS_ioctl, 0, WIDE | FIONREAD, page) +
	       ABSENT(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0) +
	       ABSENT(SYS_prctl, PR_SET_SECCOMP, 1, 0, 0, 0);
}

/* Makes one fatal call. */
static int fatal_number;
static int fatal(void)
{
	syscall(fatal_number, -1, 0, 0, 0, 0, 0);
	return 0;
}

static void test_fatal(void)
{
	static const int numbers[] = {SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv,
		SYS_process_vm_writev, SYS_pidfd_getfd};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		fatal_number = numbers[i];
		is(run(fatal), 128 + SIGSYS, "call %d kills", fatal_number);
	}
}

#ifdef __x86_64__
static int x32(void)
{
	syscall(0x40000000 | SYS_getpid);
	return 0;
}
#endif

/* The library's own way to an end needs a signal to itself, and has another one without. */
static int aborts(void)
{
	abort();
}

/* --- Landlock ------------------------------------------------------------------------------ */

static int reads(void)
{
	static const char *const closed[] = {"/etc/passwd", "/proc/self/environ", "/etc", "/"};
	int wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(closed); i++)
		wrong += refuses(closed[i], open(closed[i], O_RDONLY | O_CLOEXEC), EACCES);
	if (open("/etc/hosts", O_RDONLY | O_CLOEXEC) >= 0 || errno == ENOENT)
		return wrong;
	diag("/etc/hosts: %s", strerror(errno));
	return wrong + 1;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int ports(void)
{
	struct sockaddr_in listed = loopback(options.ports[1]), other = loopback(other_port),
			   any = loopback(0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return refuses("bind", bind(fd, (struct sockaddr *)&any, sizeof(any)), EACCES) +
	       refuses("connect", connect(fd, (struct sockaddr *)&other, sizeof(other)), EACCES) +
	       (connect(fd, (struct sockaddr *)&listed, sizeof(listed)) != 0);
}

static uint16_t listen_somewhere(void)
{
	struct sockaddr_in at = loopback(0);
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 8) ||
		getsockname(fd, (struct sockaddr *)&at, &size))
		bail("cannot listen");
	return ntohs(at.sin_port);
}

static void test_landlock(void)
{
	int abi = ll_abi();
	options.ports[options.port_count++] = listen_somewhere();
	other_port = listen_somewhere();
	if (abi < 1)
		skip("this kernel has no Landlock");
	else
		is(run(reads), 0, "no file but the resolver's");
	if (abi < 4)
		skip("this kernel's Landlock has no rules for ports");
	else
		is(run(ports), 0, "no port but the endpoints', and none of its own");
}

/* --- inspection ---------------------------------------------------------------------------- */

static void become_nobody(void)
{
	if (geteuid() == 0 &&
		(setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		bail("cannot become another user");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Reports what an ordinary process of the same user gets when it opens another's environment. */
static int inspect(bool confined)
{
	int ready[2], status;
	char path[64], byte;
	struct err e = ERR_NONE;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ready))
		bail("cannot make a pair");
	fflush(stdout);
	pid_t held = fork();
	if (held == 0) {
		close(ready[0]);
		become_nobody();
		_exit((confined && enter(&e)) || write(ready[1], "", 1) != 1 ||
			read(ready[1], &byte, 1));
	}
	close(ready[1]);
	pid_t looks = read(ready[0], &byte, 1) == 1 ? fork() : -1;
	if (looks == 0) {
		become_nobody();
		snprintf(path, sizeof(path), "/proc/%d/environ", held);
		_exit(open(path, O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno);
	}
	close(ready[0]);
	waitpid(held, &status, 0);
	if (looks < 0)
		bail("nobody is there to look");
	waitpid(looks, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	is(run(sweep), 0, "every number that the table does not have is absent");
	is(run(known), 0, "no signal, no process, no name space, no file but to read");
	is(run(files), 0, "no file to write");
	is(run(sockets), 0, "no socket but TCP, UDP, the routes, and pairs of streams");
	is(run(arguments), 0, "what is allowed for some arguments is absent for others");
	test_fatal();
	ok(run(aborts) != 0, "the C library's abort ends it");
#ifdef __x86_64__
	is(run(foreign_call), 128 + foreign_end(), "a 32-bit call kills");
	is(run(x32), 128 + SIGSYS, "an x32 call kills");
#endif
	test_landlock();
	is(inspect(false), 0, "any process of a user can be looked into by that user");
	is(inspect(true), EACCES, "but not the broker");
	return tap_done();
}
