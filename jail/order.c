#include "jail/order.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(ORDER_FDS * sizeof(int))];
};

/* Takes every descriptor that came, expected or not, so that none stays open unseen. */
static int take_fds(struct msghdr *message, struct order *o)
{
	int count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t bytes = c->cmsg_len - CMSG_LEN(0);
		for (size_t i = 0; i + sizeof(int) <= bytes && count < ORDER_FDS; i += sizeof(int))
			memcpy(&o->fds[count++], CMSG_DATA(c) + i, sizeof(int));
	}
	return count;
}

int order_receive(int socket_fd, struct order *o, int count, struct err *e)
{
	*o = (struct order){.text = malloc(ORDER_BYTES_MAX), .fds = {-1, -1, -1, -1}};
	if (!o->text)
		return err_set(e, "out of memory");
	union control control;
	struct iovec data = {.iov_base = o->text, .iov_len = ORDER_BYTES_MAX};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	ssize_t len;
	do
		len = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return err_errno(e, "cannot receive an order");
	if (!len)
		return 1;
	o->len = (size_t)len;
	int got = take_fds(&message, o);
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return err_set(e,
			"the order is larger than %d bytes or has more than %d descriptors",
			ORDER_BYTES_MAX, ORDER_FDS);
	return got == count ? 0
			    : err_set(e, "%d descriptors came with the order, not %d", got, count);
}

int order_send(int socket_fd, const struct order *o, int count, struct err *e)
{
	union control control = {.space = {0}};
	size_t bytes = (size_t)count * sizeof(int);
	struct iovec data = {.iov_base = o->text, .iov_len = o->len};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = CMSG_SPACE(bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(header), o->fds, bytes);
	return sendmsg(socket_fd, &message, MSG_NOSIGNAL) == (ssize_t)o->len
		       ? 0
		       : err_errno(e, "cannot hand the order to the jail");
}

void order_done(struct order *o)
{
	free(TAKE_PTR(o->text));
	for (int i = 0; i < ORDER_FDS; i++)
		own_close(&o->fds[i]);
}
