/*
 * Attempts by way of this host: its unix sockets, its processes, the proxy of a list.
 */
#include "tests/security/egress/reach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HOLDER_FDS = 64 };

/* --- unix sockets ----------------------------------------------------------------------------- */

int abstract_stream(const char *id)
{
	return reach_send(reach_unix(egress_told("ABSTRACT"), 1), SOCK_STREAM, 0, id);
}

/* Datagrams of a nameless socket cannot be answered. */
int abstract_dgram(const char *id)
{
	char text[MESSAGE_BYTES];
	struct target t = reach_unix(egress_told("ABSTRACT_DGRAM"), 1);
	int fd = reach_call(&t, SOCK_DGRAM, 0);
	if (fd < 0)
		return errno;
	int got = send(fd, text, reach_message(text, id), 0) < 0 ? errno : 0;
	close(fd);
	return got;
}

int docker(const char *id)
{
	return reach_send(reach_unix(egress_told("DOCKER"), 0), SOCK_STREAM, 0, id);
}

int workspace_socket(const char *id)
{
	return reach_send(reach_unix("agent.sock", 0), SOCK_STREAM, 0, id);
}

int workspace_renamed(const char *id)
{
	const char *from = "sockets/agent.sock", *to = "moved/agent.sock";
	int moved = !rename("sockets", "moved");
	int got = reach_send(reach_unix(moved ? to : from, 0), SOCK_STREAM, 0, id);
	if (moved)
		moved = rename("moved", "sockets");
	return got;
}

/* A TCP socket of somebody who may have one, already connected to the canary. */
static int receive(struct target from)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = {&byte, 1};
	struct msghdr m = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int fd = reach_call(&from, SOCK_STREAM, 0), passed = -1;
	if (fd < 0)
		return -1;
	int failed = reach_answered(fd) || recvmsg(fd, &m, 0) <= 0 || !CMSG_FIRSTHDR(&m);
	close(fd);
	if (failed) {
		errno = ECONNRESET;
		return -1;
	}
	memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(passed));
	return passed;
}

static int passed(struct target from, int again, const char *id)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	struct target to = reach_canary(egress_told("PUBLIC"));
	int fd = receive(from);
	if (fd < 0)
		return errno;
	int got = again && (connect(fd, &none, sizeof(none)) || connect(fd, &to.at.any, to.len))
			  ? errno
			  : egress_say(fd, id);
	close(fd);
	return got;
}

int passed_workspace(const char *id)
{
	return passed(reach_unix("pass.sock", 0), 0, id);
}

int passed_abstract(const char *id)
{
	return passed(reach_unix(egress_told("PASS"), 1), 0, id);
}

int passed_reconnect(const char *id)
{
	return passed(reach_unix(egress_told("PASS"), 1), 1, id);
}

/* --- other processes -------------------------------------------------------------------------- */

/* Descriptors that the agent holds by right are named to it as KNOWN. */
int inherited(const char *id)
{
	int got = EBADF;
	for (int fd = 3; fd < 256 && got; fd++) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		char known[16];
		snprintf(known, sizeof(known), ",%d,", fd);
		if (!strstr(egress_told("KNOWN"), known) &&
			!getpeername(fd, (struct sockaddr *)&peer, &len))
			got = egress_say(fd, id);
	}
	return got;
}

static int take_from(pid_t pid, const char *id)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), got = pidfd < 0 ? errno : EBADF;
	for (int fd = 3; pidfd >= 0 && fd < HOLDER_FDS && got; fd++) {
		int mine = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
		if (mine < 0)
			got = errno;
		else
			got = egress_say(mine, id);
		if (mine >= 0)
			close(mine);
	}
	if (pidfd >= 0)
		close(pidfd);
	return got;
}

int steal(const char *id)
{
	int got = take_from(egress_number("HOLDER"), id);
	DIR *proc = opendir("/proc");
	for (const struct dirent *d; got && proc && (d = readdir(proc));) {
		char path[300], name[32] = "";
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, name, sizeof(name) - 1) > 0 &&
			!strncmp(name, "agent6-broker", 13) &&
			!take_from((pid_t)strtol(d->d_name, NULL, 10), id))
			got = 0;
		if (fd >= 0)
			close(fd);
	}
	if (proc)
		closedir(proc);
	return got;
}

int io_uring(const char *id)
{
	static char parameters[256] __attribute__((aligned(8)));
	(void)id;
	memset(parameters, 0, sizeof(parameters));
	long fd = syscall(SYS_io_uring_setup, 4, parameters);
	return fd < 0 ? errno : close((int)fd);
}

/* --- the list's proxy ------------------------------------------------------------------------- */

static int by_proxy(const char *port, const char *id)
{
	const char *proxy = getenv("HTTPS_PROXY"), *colon = proxy ? strrchr(proxy, ':') : NULL;
	char text[MESSAGE_BYTES];
	if (!colon)
		return ENOENT;
	struct target t = reach_port("127.0.0.1", (int)strtol(colon + 1, NULL, 10));
	int fd = reach_call(&t, SOCK_STREAM, 0);
	if (fd < 0)
		return errno;
	int len = snprintf(text, sizeof(text),
		"CONNECT 127.0.0.1:%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n", port, port);
	ssize_t n = send(fd, text, (size_t)len, MSG_NOSIGNAL);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	n = n == len && poll(&p, 1, ANSWER_MS) > 0 ? recv(fd, text, sizeof(text) - 1, 0) : -1;
	int got = n > 12 && !memcmp(text + 9, "200", 3) ? egress_say(fd, id) : EACCES;
	close(fd);
	return got;
}

int proxy_listed(const char *id)
{
	return by_proxy(egress_told("PORT"), id);
}

int proxy_other(const char *id)
{
	return by_proxy(egress_told("OTHER"), id);
}
