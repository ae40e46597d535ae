#include "provider/channel.h"

#include "base/clock.h"
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static int wait_readable(int fd, int64_t timeout_ms, struct err *e)
{
	int64_t end_ms = clock_monotonic_ms() + timeout_ms;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;
	do {
		int64_t left_ms = end_ms - clock_monotonic_ms();
		n = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);
	} while (n < 0 && errno == EINTR);
	errno = n ? errno : ETIMEDOUT;
	return n > 0 ? 0 : err_errno(e, "the broker does not answer");
}

static int receive_fd(int channel_fd)
{
	char byte;
	struct iovec io = {.iov_base = &byte, .iov_len = 1};
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr m = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	ssize_t n;
	do
		n = recvmsg(channel_fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	const struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
		errno = n < 0 ? errno : ECONNRESET;
		return -1;
	}
	int fd;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int channel_connect(int channel_fd, int64_t timeout_ms, struct err *e)
{
	if (send(channel_fd, "", 1, MSG_NOSIGNAL) != 1)
		return err_errno(e, "the broker has ended");
	if (wait_readable(channel_fd, timeout_ms, e))
		return -1;
	int fd = receive_fd(channel_fd);
	return fd < 0 ? err_errno(e, "the broker has ended") : fd;
}
