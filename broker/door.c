#include "broker/door.h"

#include "base/pass.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* What the kernel reports for a byte that was sent before credentials were asked for. */
enum { UID_UNKNOWN = 65534 };

static bool is_socket(int fd, int option, int want)
{
	int value = -1;
	socklen_t size = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == want;
}

int door_prepare(int fd, int vouched, pid_t *peer, struct err *e)
{
	struct ucred creator;
	socklen_t size = sizeof(creator);
	if (!is_socket(fd, SO_DOMAIN, AF_UNIX) || !is_socket(fd, SO_TYPE, SOCK_STREAM))
		return err_set(e, "descriptor %d is not an AF_UNIX stream socket", fd);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &creator, &size) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &vouched, sizeof(vouched)) < 0 ||
		fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return err_errno(e, "cannot read the credentials behind descriptor %d", fd);
	if (creator.uid == (uid_t)-1)
		return err_set(e, "descriptor %d is not connected", fd);
	if (creator.uid != geteuid())
		return err_set(e, "descriptor %d belongs to user %u, the broker to user %u", fd,
			creator.uid, geteuid());
	*peer = creator.pid;
	return 0;
}

enum door_event door_next(int fd)
{
	char byte, control[CMSG_LEN(sizeof(struct ucred))] __attribute__((aligned(8)));
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct ucred sender = {.uid = (uid_t)-1};
	ssize_t got = recvmsg(fd, &message, 0);
	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR) ? DOOR_QUIET : DOOR_CLOSED;
	const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
	if (first && first->cmsg_type == SCM_CREDENTIALS)
		memcpy(&sender, CMSG_DATA(first), sizeof(sender));
	bool ours = sender.uid == geteuid() || (sender.pid == 0 && sender.uid == UID_UNKNOWN);
	return ours && !(message.msg_flags & MSG_CTRUNC) ? DOOR_REQUEST : DOOR_REFUSED;
}

int door_listener(int fd, bool *closed)
{
	char byte;
	struct passed came;
	ssize_t got = pass_receive(fd, &byte, 1, &came);
	*closed = got == 0 || (got < 0 && errno != EAGAIN);
	bool fits = came.count == 1 && is_socket(came.fds[0], SO_ACCEPTCONN, 1) &&
		    is_socket(came.fds[0], SO_TYPE, SOCK_STREAM) &&
		    is_socket(came.fds[0], SO_PROTOCOL, IPPROTO_TCP);
	for (int i = fits; i < came.count; i++)
		close(came.fds[i]);
	return fits ? came.fds[0] : -1;
}
