#include "broker/door.h"

#include <netinet/in.h>
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

/* One byte with its control messages, in a buffer that has `control_bytes` room for them. */
static ssize_t receive(int fd, struct msghdr *message, void *control, size_t control_bytes)
{
	static char byte;
	static struct iovec part = {.iov_base = &byte, .iov_len = 1};
	*message = (struct msghdr){.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = control_bytes};
	return recvmsg(fd, message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
}

static enum door_event judge(ssize_t got, const struct cmsghdr *header, uid_t uid)
{
	struct ucred sender;
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? DOOR_QUIET : DOOR_CLOSED;
	if (got == 0)
		return DOOR_CLOSED;
	if (!header || header->cmsg_type != SCM_CREDENTIALS)
		return DOOR_REFUSED;
	memcpy(&sender, CMSG_DATA(header), sizeof(sender));
	bool early = sender.pid == 0 && sender.uid == UID_UNKNOWN;
	return sender.uid == uid || early ? DOOR_REQUEST : DOOR_REFUSED;
}

enum door_event door_next(int fd, uid_t uid)
{
	/* Room for the credentials and nothing else: the kernel closes descriptors that come along.
	 */
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct msghdr message;
	ssize_t got = receive(fd, &message, &control, CMSG_LEN(sizeof(struct ucred)));
	enum door_event event = judge(got, CMSG_FIRSTHDR(&message), uid);
	return event == DOOR_REQUEST && message.msg_flags & MSG_CTRUNC ? DOOR_REFUSED : event;
}

enum door_event door_receive(int fd, int *listener)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message;
	AUTO_FD int passed = -1;
	ssize_t got = receive(
		fd, &message, &control, CMSG_SPACE(sizeof(struct ucred)) + CMSG_LEN(sizeof(int)));
	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR) ? DOOR_QUIET : DOOR_CLOSED;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	while (header && header->cmsg_type != SCM_RIGHTS)
		header = CMSG_NXTHDR(&message, header);
	if (header)
		memcpy(&passed, CMSG_DATA(header), sizeof(int));
	if (message.msg_flags & MSG_CTRUNC || passed < 0 || option_of(passed, SO_ACCEPTCONN) != 1 ||
		option_of(passed, SO_TYPE) != SOCK_STREAM ||
		option_of(passed, SO_PROTOCOL) != IPPROTO_TCP)
		return DOOR_REFUSED;
	*listener = TAKE_FD(passed);
	return DOOR_REQUEST;
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
