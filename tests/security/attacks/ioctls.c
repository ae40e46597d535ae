/*
 * Every ioctl number on every kind of descriptor that a jailed command can come by. Writes the file
 * `ioctls`: one line "KIND REQUEST ERRNO" for each that the descriptor knows, ERRNO 0 for success.
 * The argument is always a page of zeros: what is asked for with it changes nothing of the host's.
 */
#include "tests/security/attacks/attack.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int make_pipe(void)
{
	int ends[2];
	return pipe(ends) ? -1 : ends[0];
}

static int make_pair(void)
{
	int ends[2];
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? -1 : ends[0];
}

static int make_signalfd(void)
{
	sigset_t none;
	sigemptyset(&none);
	return signalfd(-1, &none, 0);
}

static int make_fifo(void)
{
	mkfifo("fifo", 0600);
	return open("fifo", O_RDWR);
}

static int make_ruleset(void)
{
	unsigned long long handled = 1; /* LANDLOCK_ACCESS_FS_EXECUTE */
	return (int)syscall(444, &handled, sizeof(handled), 0);
}

#define KINDS(X)                                                                                   \
	X(terminal, dup(0))                                                                        \
	X(null, open("/dev/null", O_RDWR))                                                         \
	X(zero, open("/dev/zero", O_RDWR))                                                         \
	X(full, open("/dev/full", O_RDWR))                                                         \
	X(random, open("/dev/random", O_RDWR))                                                     \
	X(urandom, open("/dev/urandom", O_RDWR))                                                   \
	X(file, open("own", O_RDWR | O_CREAT, 0600))                                               \
	X(directory, open(".", O_RDONLY | O_DIRECTORY))                                            \
	X(protected_file, open(".git/config", O_RDONLY))                                           \
	X(program, open("/bin/sh", O_RDONLY))                                                      \
	X(temporary, open("/tmp", O_RDWR | O_TMPFILE, 0600))                                       \
	X(shared_memory, open("/dev/shm", O_RDWR | O_TMPFILE, 0600))                               \
	X(memfd, memfd_create("m", 0))                                                             \
	X(fifo, make_fifo())                                                                       \
	X(pipe, make_pipe())                                                                       \
	X(pair, make_pair())                                                                       \
	X(unix_datagram, socket(AF_UNIX, SOCK_DGRAM, 0))                                           \
	X(tcp4, socket(AF_INET, SOCK_STREAM, 0))                                                   \
	X(tcp6, socket(AF_INET6, SOCK_STREAM, 0))                                                  \
	X(udp4, socket(AF_INET, SOCK_DGRAM, 0))                                                    \
	X(udp6, socket(AF_INET6, SOCK_DGRAM, 0))                                                   \
	X(route, socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE))                                      \
	X(event, eventfd(0, 0))                                                                    \
	X(epoll, epoll_create1(0))                                                                 \
	X(timer, timerfd_create(CLOCK_MONOTONIC, 0))                                               \
	X(signals, make_signalfd())                                                                \
	X(watch, inotify_init())                                                                   \
	X(pid, (int)syscall(SYS_pidfd_open, getpid(), 0))                                          \
	X(user_namespace, open("/proc/self/ns/user", O_RDONLY))                                    \
	X(net_namespace, open("/proc/self/ns/net", O_RDONLY))                                      \
	X(mount_namespace, open("/proc/self/ns/mnt", O_RDONLY))                                    \
	X(pid_namespace, open("/proc/self/ns/pid", O_RDONLY))                                      \
	X(maps, open("/proc/self/maps", O_RDONLY))                                                 \
	X(ruleset, make_ruleset())

static void interrupted(int signal_number)
{
	(void)signal_number;
}

struct place {
	FILE *out;
	const char *kind;
	int fd;
	int unknown; /* what it answers to a number that nobody uses */
};

static int ask(int fd, unsigned long request)
{
	static char zeros[65536] __attribute__((aligned(4096)));
	memset(zeros, 0, 4096);
	long result = syscall(SYS_ioctl, fd, request, zeros);
	int answered = result < 0 ? errno : 0;
	if (result > fd) /* some hand out descriptors; the next needs the room */
		close((int)result);
	return answered;
}

static void try(const struct place *place, unsigned long request)
{
	int answered = ask(place->fd, request);
	if (answered != ENOTTY && answered != place->unknown)
		fprintf(place->out, "%s %lx %d\n", place->kind, request, answered);
}

static void try_ways(const struct place *place, unsigned long number, unsigned long size)
{
	for (unsigned long way = 1; way < 4; way++)
		try(place, way << 30 | size << 16 | number);
}

/* Numbers from before there was an encoding, then direction, size of the argument, type and number:
 * an int or a pointer of every letter, and structures of file systems, terminals, networks and
 * namespaces. */
static void sweep(FILE *out, const char *kind, int fd)
{
	static const unsigned sizes[] = {
		1, 8, 12, 16, 24, 28, 32, 40, 56, 64, 72, 80, 104, 128, 136, 4096};
	static const unsigned char types[] = {
		'f', 'X', 'T', 'v', 'R', 'u', 'r', 0x12, 0x89, 0x94, 0xb7, 0xbc, 0xff};
	struct place p = {out, kind, fd, fd < 0 ? 0 : ask(fd, 0xdeadbeef)};
	if (fd < 0)
		return;
	for (unsigned long request = 0; request < 0x10000; request++)
		try(&p, request);
	for (unsigned long number = 'A' << 8; number <= ('z' << 8 | 0xff); number++) {
		try_ways(&p, number, 4);
		try_ways(&p, number, 8);
	}
	for (size_t t = 0; t < sizeof(types); t++)
		for (unsigned number = 0; number < 0x100; number++)
			for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
				try_ways(&p, (unsigned long)types[t] << 8 | number, sizes[s]);
	close(fd);
}

int ioctls(void)
{
	FILE *out = fopen("ioctls", "w");
	if (!out)
		return errno;
	struct sigaction action = {.sa_handler = interrupted}; /* no restart */
	sigaction(SIGALRM, &action, NULL);
	for (int number = 1; number < 32; number++)
		if (number != SIGALRM && number != SIGINT && number != SIGTERM)
			signal(number, SIG_IGN);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 100000}, {0, 100000}}, NULL);
#define KIND_ROW(kind, made) sweep(out, #kind, made);
	KINDS(KIND_ROW)
	return fclose(out) ? errno : 0;
}
