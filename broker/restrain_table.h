/*
 * The broker's own confinement as tables: the files that it reads and the system calls that it
 * makes.
 */
#ifndef BROKER_RESTRAIN_TABLE_H
#define BROKER_RESTRAIN_TABLE_H
#include "base/seccomp_rules.h"
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* The resolver's files. */
static const char *const readable[] = {
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/host.conf",
	"/etc/services", "/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf",
};

#define EQUAL(arg, value)        SCMP_CMP64(arg, SCMP_CMP_EQ, value, 0)
#define MASKED(arg, mask, value) SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, mask, value)
#define OPENS_FOR_WRITING        (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)
#define SOCKET_TYPE              0xf
/* AF_INET and AF_INET6 differ in one bit. */
#define INTERNET MASKED(0, ~(uint64_t)(AF_INET ^ AF_INET6), AF_INET &AF_INET6)
_Static_assert((AF_INET & AF_INET6) == AF_INET && ((AF_INET ^ AF_INET6) == 8), "one bit");

#define CALL(name)              {#name, SCMP_ACT_ALLOW, 0, {{0}}}
#define FATAL(name)             {#name, SCMP_ACT_KILL_PROCESS, 0, {{0}}}
#define WHEN(name, count, ...)  {#name, SCMP_ACT_ALLOW, count, {__VA_ARGS__}}

/* The calls of the event loop, libcurl's dialling, glibc's resolver and its threads. */
static const struct call_rule calls[] = {
	/* open descriptors, and files to read */
	CALL(read), CALL(write), CALL(readv), CALL(writev), CALL(pread64), CALL(close), CALL(lseek),
	CALL(fstat), CALL(newfstatat), CALL(stat), CALL(statx), CALL(access), CALL(faccessat),
	CALL(faccessat2), CALL(readlink), CALL(readlinkat), CALL(fcntl), CALL(dup), CALL(pipe2),
	CALL(eventfd2),
	WHEN(openat, 1, MASKED(2, OPENS_FOR_WRITING, O_RDONLY)),
	WHEN(open, 1, MASKED(1, OPENS_FOR_WRITING, O_RDONLY)),
	WHEN(ioctl, 1, EQUAL(1, FIONBIO)),
	WHEN(ioctl, 1, EQUAL(1, FIONREAD)), /* glibc's resolver */
	/* sockets: TCP, UDP for DNS, the routes that getaddrinfo(3) sorts by */
	CALL(recvfrom), CALL(recvmsg), CALL(recvmmsg), CALL(accept4), CALL(sendto), CALL(sendmsg),
	CALL(sendmmsg), CALL(connect), CALL(bind), CALL(shutdown), CALL(getsockname),
	CALL(getpeername), CALL(getsockopt), CALL(setsockopt),
	/* a datagram socket could be connected to any name */
	WHEN(socketpair, 2, EQUAL(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM)),
	WHEN(socket, 3, INTERNET, MASKED(1, SOCKET_TYPE, SOCK_STREAM), EQUAL(2, IPPROTO_TCP)),
	WHEN(socket, 3, INTERNET, MASKED(1, SOCKET_TYPE, SOCK_STREAM), EQUAL(2, 0)),
	WHEN(socket, 3, INTERNET, MASKED(1, SOCKET_TYPE, SOCK_DGRAM), EQUAL(2, IPPROTO_UDP)),
	WHEN(socket, 3, INTERNET, MASKED(1, SOCKET_TYPE, SOCK_DGRAM), EQUAL(2, 0)),
	WHEN(socket, 3, EQUAL(0, AF_NETLINK), MASKED(1, SOCKET_TYPE, SOCK_RAW),
		EQUAL(2, NETLINK_ROUTE)),
	CALL(epoll_ctl), CALL(epoll_wait), CALL(epoll_pwait), CALL(poll), CALL(ppoll),
	/* memory, never as code, and threads */
	CALL(brk), CALL(munmap), CALL(mremap), CALL(madvise), CALL(membarrier), CALL(futex),
	CALL(sched_yield), CALL(sched_getaffinity), CALL(set_robust_list), CALL(rseq), CALL(gettid),
	WHEN(mmap, 1, MASKED(2, PROT_EXEC, 0)),
	WHEN(mprotect, 1, MASKED(2, PROT_EXEC, 0)),
	WHEN(clone, 1, MASKED(0, CLONE_VM | CLONE_THREAD, CLONE_VM | CLONE_THREAD)),
	WHEN(prctl, 1, EQUAL(0, PR_SET_NAME)),
	/* what the C library asks about the process, the system and the time */
	CALL(getpid), CALL(getuid), CALL(geteuid), CALL(getgid), CALL(getegid), CALL(uname),
	CALL(sysinfo), CALL(getrandom), CALL(clock_gettime), CALL(clock_getres),
	CALL(clock_nanosleep), CALL(nanosleep), CALL(gettimeofday), CALL(time), CALL(rt_sigaction),
	CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(sigaltstack), CALL(restart_syscall),
	CALL(exit), CALL(exit_group),
	/* The broker never makes these calls, so a process that tries is under another's
	 * control. */
	FATAL(execve), FATAL(execveat), FATAL(ptrace), FATAL(process_vm_readv),
	FATAL(process_vm_writev), FATAL(pidfd_getfd),
};
#endif
