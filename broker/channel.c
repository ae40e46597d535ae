#include "base/clock.h"
#include "base/fdpass.h"
#include "broker/broker.h"
#include <fcntl.h>
#include <string.h>
#include <sys/pidfd.h>

enum { LINGER_MS = 1500, RETRY_MS = 1000 };
enum {
	/* At once, per channel, so that a host that never answers does not starve other
	 * channels. */
	DIALS_MAX = 64,
	/* For a few blocks on their way to the agent; the kernel has its own limit. */
	ROOM_BYTES = 1 << 20,
	UID_UNKNOWN = 65534, /* of a byte sent before credentials were asked for */
};

static bool is_socket(int fd, int option, int want)
{
	int value = -1;
	socklen_t size = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == want;
}

void channel_arm(struct channel *channel)
{
	struct watch *w = channel->endpoint ? &channel->watch : &channel->broker->listener;
	uint32_t events = channel->asked                 ? EPOLLOUT
			  : channel->dialing < DIALS_MAX ? EPOLLIN
							 : EPOLLHUP;
	if (w->fd >= 0)
		broker_want(channel->broker, w, events);
}

/* Unwatches a descriptor before it is closed: other processes may hold the same file, which would
 * stay watched. */
static void stop_watching(struct broker *broker, struct watch *watch)
{
	broker_want(broker, watch, 0);
	own_close(&watch->fd);
}

/* Closes a channel. When the last one is closed the agent has gone, and connections only finish
 * their data. */
static void channel_close(struct channel *channel)
{
	struct broker *b = channel->broker;
	stop_watching(b, &channel->watch);
	if (!channel->endpoint)
		stop_watching(b, &b->listener);
	if (--b->open_channels == 0)
		b->wake_at_ms = b->linger_until_ms = clock_monotonic_ms() + LINGER_MS;
}

/* Reads one request. Returns false if no more will come. */
static bool channel_read(struct channel *channel)
{
	char byte, control[CMSG_LEN(sizeof(struct ucred))] __attribute__((aligned(8)));
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct ucred sender = {.uid = (uid_t)-1};
	ssize_t got = recvmsg(channel->watch.fd, &message, 0);
	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR);
	const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
	if (first && first->cmsg_type == SCM_CREDENTIALS)
		memcpy(&sender, CMSG_DATA(first), sizeof(sender));
	bool ours = sender.uid == geteuid() || (sender.pid == 0 && sender.uid == UID_UNKNOWN);
	channel->honest = ours && !(message.msg_flags & MSG_CTRUNC);
	return channel->asked = true;
}

bool channel_prepare(struct broker *broker)
{
	if (broker->pair[0] >= 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, broker->pair) < 0)
		return false;
	return setsockopt(broker->pair[0], SOL_SOCKET, SO_SNDBUF, &(int){ROOM_BYTES},
		       sizeof(int)) == 0;
}

/* Answers a request with a descriptor, even if it is refused: that one is closed at once, and a
 * fact tells why. Returns false with errno if it could not be sent. */
static bool channel_answer(struct channel *channel)
{
	struct broker *b = channel->broker;
	channel_prepare(b);
	if (!channel->honest || b->pair[0] < 0)
		return send(channel->watch.fd, "", 1, MSG_NOSIGNAL) == 1;
	AUTO_FD int ours = TAKE_FD(b->pair[0]), theirs = TAKE_FD(b->pair[1]);
	if (fdpass_send(channel->watch.fd, "", 1, &theirs, 1) < 0)
		return false;
	connection_begin(channel, TAKE_FD(ours));
	return true;
}

/* Handles one request at a time: the loop reports the next one, or room for an answer. */
static void channel_wake(struct watch *watch)
{
	struct channel *c = watch->owner;
	bool open = c->asked || channel_read(c);
	if (open && c->asked) {
		c->asked = !channel_answer(c);
		open = !c->asked || errno == EAGAIN;
	}
	if (open)
		channel_arm(c);
	else
		channel_close(c);
}

/* Accepts a client of the proxy. Without a free descriptor it waits for the next client, the end of
 * a connection, or a sweep: the shortage may be the whole system's. */
static void listener_wake(struct watch *watch)
{
	struct channel *c = watch->owner;
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		c->broker->wake_at_ms = MIN(c->broker->wake_at_ms, clock_monotonic_ms() + RETRY_MS);
		broker_want(c->broker, watch, EPOLLIN | EPOLLET);
		return;
	}
	connection_begin(c, fd);
}

/* Takes the listener once; afterwards only the end matters. The sender is not checked: the jail's
 * launcher already is the jail's user, and closes its end before it runs anything. */
static void lifeline_wake(struct watch *watch)
{
	struct channel *c = watch->owner;
	char byte;
	struct fdpass came;
	ssize_t got = fdpass_receive(watch->fd, &byte, 1, &came);
	struct watch *listener = &c->broker->listener;
	bool fits = listener->fd < 0 && came.count == 1 &&
		    is_socket(came.fds[0], SO_ACCEPTCONN, 1) &&
		    is_socket(came.fds[0], SO_PROTOCOL, IPPROTO_TCP) &&
		    fcntl(came.fds[0], F_SETFL, O_NONBLOCK) == 0;
	for (int i = fits; i < came.count; i++)
		close(came.fds[i]);
	if (fits)
		*listener = (struct watch){.fd = came.fds[0], .wake = listener_wake, .owner = c};
	channel_arm(c);
	if (got == 0 || (got < 0 && errno != EAGAIN))
		channel_close(c);
}

int channel_open(struct broker *broker, int fd, const struct endpoint *to, struct err *e)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int vouched = to != NULL;
	struct channel *c = &broker->channels[broker->channel_count];
	if (!is_socket(fd, SO_DOMAIN, AF_UNIX) || !is_socket(fd, SO_TYPE, SOCK_STREAM))
		return err_set(e, "descriptor %d is not an AF_UNIX stream socket", fd);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &vouched, sizeof(vouched)) < 0 ||
		fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return err_errno(e, "cannot read the credentials of the peer of descriptor %d", fd);
	if (peer.uid != geteuid()) /* -1: it has no peer */
		return err_set(
			e, "descriptor %d is not connected to a process of user %u", fd, geteuid());
	*c = (struct channel){
		.watch = {.fd = fd, .wake = to ? channel_wake : lifeline_wake, .owner = c},
		.broker = broker,
		.endpoint = to};
	if (broker_want(broker, &c->watch, EPOLLIN) < 0)
		return err_errno(e, "cannot watch descriptor %d", fd);
	broker->channel_count++;
	broker->open_channels++;
	/* The agent's process counts, not the thread that started us: hence no PDEATHSIG. */
	if (broker->agent.fd < 0 && peer.pid != 0) {
		broker->agent.fd = pidfd_open(peer.pid, 0);
		if (broker->agent.fd < 0 || broker_want(broker, &broker->agent, EPOLLIN) < 0)
			return err_errno(e, "cannot watch the agent, process %d", peer.pid);
	}
	return 0;
}
