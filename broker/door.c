#include "broker/door.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* What the kernel reports for a byte that was sent before credentials were asked for. */
enum { UID_UNKNOWN = 65534 };

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
};

static bool is_socket(int fd, int option, int want)
{
	int value = -1;
	socklen_t size = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == want;
}

int door_prepare(int fd, pid_t *peer, struct err *e)
{
	struct ucred creator;
	socklen_t size = sizeof(creator);
	int on = 1;
	if (!is_socket(fd, SO_DOMAIN, AF_UNIX) || !is_socket(fd, SO_TYPE, SOCK_STREAM))
		return err_set(e, "descriptor %d is not an AF_UNIX stream socket", fd);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &creator, &size) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return err_errno(e, "cannot read the credentials behind descriptor %d", fd);
	if (creator.uid == (uid_t)-1)
		return err_set(e, "descriptor %d is not connected", fd);
	if (creator.uid != geteuid())
		return err_set(e, "descriptor %d belongs to user %u, the broker to user %u", fd,
			creator.uid, geteuid());
	*peer = creator.pid;
	return 0;
}

static bool is_ours(const struct ucred *sender)
{
	return sender->uid == geteuid() || (sender->pid == 0 && sender->uid == UID_UNKNOWN);
}

/* Room for the credentials, and for one descriptor where one is wanted: the kernel closes what
 * comes along beyond that. */
enum door_event door_next(int fd, int *listener)
{
	char byte;
	union control control;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = listener
					  ? CMSG_SPACE(sizeof(struct ucred)) + CMSG_LEN(sizeof(int))
					  : CMSG_LEN(sizeof(struct ucred))};
	struct ucred sender = {.uid = (uid_t)-1};
	AUTO_FD int passed = -1;
	ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR) ? DOOR_QUIET : DOOR_CLOSED;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h))
		if (h->cmsg_type == SCM_RIGHTS)
			memcpy(&passed, CMSG_DATA(h), sizeof(passed));
		else if (h->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(h), sizeof(sender));
	if (message.msg_flags & MSG_CTRUNC)
		return DOOR_REFUSED;
	if (!listener)
		return is_ours(&sender) ? DOOR_REQUEST : DOOR_REFUSED;
	if (!is_socket(passed, SO_ACCEPTCONN, 1) || !is_socket(passed, SO_TYPE, SOCK_STREAM) ||
		!is_socket(passed, SO_PROTOCOL, IPPROTO_TCP))
		return DOOR_REFUSED;
	*listener = TAKE_FD(passed);
	return DOOR_REQUEST;
}

int door_answer(int fd, int passed_fd)
{
	char byte = 0;
	union control control = {.header = {.cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
					 .cmsg_len = CMSG_LEN(sizeof(int))}};
	memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof(int));
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (passed_fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int));
	}
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		return 1;
	return errno == EAGAIN || errno == EINTR ? 0 : -1;
}
