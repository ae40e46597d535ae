#include "broker/door.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* What the kernel reports for a byte that was sent before credentials were asked for. */
enum { UID_UNKNOWN = 65534 };

static int option_of(int fd, int option)
{
	int value = -1;
	socklen_t size = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &size) < 0 ? -1 : value;
}

int door_prepare(int fd, struct door_peer *peer, struct err *e)
{
	struct ucred creator;
	socklen_t size = sizeof(creator);
	int on = 1;
	if (option_of(fd, SO_DOMAIN) != AF_UNIX || option_of(fd, SO_TYPE) != SOCK_STREAM)
		return err_set(e, "descriptor %d is not an AF_UNIX stream socket", fd);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &creator, &size) < 0)
		return err_errno(e, "cannot read the credentials behind descriptor %d", fd);
	if (creator.uid == (uid_t)-1)
		return err_set(e, "descriptor %d is not connected", fd);
	if (creator.uid != geteuid())
		return err_set(e, "descriptor %d belongs to user %u, the broker to user %u", fd,
			creator.uid, geteuid());
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return err_errno(e, "cannot ask for credentials on descriptor %d", fd);
	*peer = (struct door_peer){.pid = creator.pid, .uid = creator.uid};
	return 0;
}

enum door_event door_next(int fd, uid_t uid)
{
	char byte;
	/* Room for the credentials and nothing else. */
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_LEN(sizeof(struct ucred))};
	ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? DOOR_QUIET : DOOR_CLOSED;
	if (got == 0)
		return DOOR_CLOSED;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (message.msg_flags & MSG_CTRUNC || !header || header->cmsg_type != SCM_CREDENTIALS)
		return DOOR_REFUSED;
	struct ucred sender;
	memcpy(&sender, CMSG_DATA(header), sizeof(sender));
	bool early = sender.pid == 0 && sender.uid == UID_UNKNOWN;
	return sender.uid == uid || early ? DOOR_REQUEST : DOOR_REFUSED;
}

int door_answer(int fd, int passed_fd)
{
	char byte = 0;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS,
			     .cmsg_len = CMSG_LEN(sizeof(int))}};
	memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof(int));
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = passed_fd >= 0 ? &control : NULL,
		.msg_controllen = passed_fd >= 0 ? sizeof(control) : 0};
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		return 1;
	return errno == EAGAIN || errno == EINTR ? 0 : -1;
}
