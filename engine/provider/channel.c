#include "provider/channel.h"

#include "base/clock.h"
#include "base/fdpass.h"
#include "base/io.h"
#include <string.h>
#include <sys/socket.h>

static int wait_readable(int fd, int64_t timeout_ms, struct err *e)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n = io_poll(&p, 1, clock_monotonic_ms() + timeout_ms);
	errno = n ? errno : ETIMEDOUT;
	return n > 0 ? 0 : err_errno(e, "the broker does not answer");
}

bool channel_gone(int channel_fd, int patience_ms)
{
	struct pollfd p = {.fd = channel_fd, .events = POLLRDHUP};
	return poll(&p, 1, patience_ms) > 0;
}

static int receive_fd(int channel_fd)
{
	char byte;
	struct fdpass passed;
	ssize_t n = fdpass_receive(channel_fd, &byte, 1, &passed);
	if (n == 1 && passed.count == 1)
		return passed.fds[0];
	for (int i = 0; i < passed.count; i++)
		own_close(&passed.fds[i]);
	return -1;
}

int channel_connect(int channel_fd, int64_t timeout_ms, struct err *e)
{
	if (send(channel_fd, "", 1, MSG_NOSIGNAL) != 1)
		return err_errno(e, "the broker has ended");
	if (wait_readable(channel_fd, timeout_ms, e))
		return -1;
	int fd = receive_fd(channel_fd);
	return fd < 0 ? err_set(e, "the broker gave no connection") : fd;
}
