#include "base/fdpass.h"

#include "base/cleanup.h"
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
};

/* Takes every descriptor that came, even an unexpected one, so that none stays open unnoticed. */
static void take(struct msghdr *message, struct fdpass *fdpass)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t bytes = c->cmsg_len - CMSG_LEN(0);
		for (size_t i = 0; i + sizeof(int) <= bytes && fdpass->count < FDPASS_MAX;
			i += sizeof(int))
			memcpy(&fdpass->fds[fdpass->count++], CMSG_DATA(c) + i, sizeof(int));
	}
}

ssize_t fdpass_receive(int socket_fd, void *bytes, size_t size, struct fdpass *fdpass)
{
	union control control;
	struct iovec data = {.iov_base = bytes, .iov_len = size};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	ssize_t len;
	*fdpass = (struct fdpass){.fds = {-1, -1, -1, -1}};
	do
		len = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return -1;
	take(&message, fdpass);
	fdpass->cut = message.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
	return len;
}

/* Sends in spite of the limit on descriptors under way. The kernel counts those of all the user's
 * processes, and compares the sum with the sender's soft limit, mostly 1,024. A jailed command is
 * the same user and could leave so many that no other program could send any. */
static ssize_t send_past(int socket_fd, const struct msghdr *message)
{
	struct rlimit own;
	if (getrlimit(RLIMIT_NOFILE, &own))
		return -1;
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){own.rlim_max, own.rlim_max});
	ssize_t sent = sendmsg(socket_fd, message, MSG_NOSIGNAL);
	int number = errno;
	setrlimit(RLIMIT_NOFILE, &own);
	errno = number;
	return sent;
}

int fdpass_send(int socket_fd, const void *bytes, size_t len, const int *fds, int count)
{
	union control control = {.space = {0}};
	size_t fds_bytes = (size_t)count * sizeof(int);
	struct iovec data = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = CMSG_SPACE(fds_bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(fds_bytes);
	memcpy(CMSG_DATA(header), fds, fds_bytes);
	ssize_t sent;
	do
		sent = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno == ETOOMANYREFS)
		sent = send_past(socket_fd, &message);
	return sent == (ssize_t)len ? 0 : -1;
}
