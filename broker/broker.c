#include "broker/broker.h"

#include "base/clock.h"
#include "base/pass.h"
#include "broker/connection.h"
#include <fcntl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
	CONNECTIONS_MAX = 4096,
	DIALS_MAX = 64, /* at once, per channel: a black hole behind one does not starve another */
	LINGER_MS = 1500,
	DIALS_WAIT_MS = 1000,
	PIPE_BYTES = 1 << 20,
	FDS_RESERVED = 24, /* the loop's own, and a socketpair to refuse with */
	FDS_PER_DIAL = 6,  /* two racing sockets, the resolver's */
};

void channel_arm(struct channel *c)
{
	bool answering = c->event != DOOR_QUIET;
	uint32_t events = answering ? EPOLLOUT : c->dialing < DIALS_MAX ? EPOLLIN : 0u;
	if (c->watch.fd >= 0)
		loop_want(&c->broker->loop, &c->watch, events);
}

/* The last channel is the agent's life line: without it connections only finish what they have. */
static void channel_close(struct channel *c)
{
	struct broker *b = c->broker;
	loop_want(&b->loop, &c->watch, 0); /* the jail may hold a listener too */
	loop_close(&b->loop, &c->watch);
	if (--b->open_channels == 0)
		b->wake_at_ms = b->linger_until_ms = clock_monotonic_ms() + LINGER_MS;
}

static bool descriptors_left(const struct broker *b)
{
	uint64_t used = FDS_RESERVED + 2ull * b->live_count + b->channel_count +
			(uint64_t)FDS_PER_DIAL * b->dialer.under_way;
	return b->live_count < CONNECTIONS_MAX && used + FDS_PER_DIAL + 2 <= b->fd_limit;
}

/* Takes `fd` as a new connection's; refused at once when it cannot be served. */
static void channel_take(struct channel *c, int fd)
{
	const char *full = descriptors_left(c->broker) ? NULL : REFUSED_DIAL;
	connection_begin(c, fd, c->broker->budget == 0 ? REFUSED_BUDGET : full);
}

/* Every request gets a descriptor, a refused one too: it is closed at once, and the fact is said.
 * -1 with errno: it could not be answered. */
static int channel_serve(struct channel *c)
{
	int pair[2];
	/* Splicing asks the socket, not the call, whether it may wait; the agent's end may. */
	if (c->event == DOOR_REFUSED ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return send(c->watch.fd, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -1;
	AUTO_FD int ours = pair[0], theirs = pair[1];
	fcntl(ours, F_SETFL, O_NONBLOCK);
	if (pass_send(c->watch.fd, "", 1, &theirs, 1) < 0)
		return -1;
	channel_take(c, TAKE_FD(ours));
	return 0;
}

/* One request at a time: the loop tells of the next one, and of room for an answer. */
static void channel_wake(struct watch *w, uint32_t events)
{
	struct channel *c = (struct channel *)w;
	(void)events;
	if (c->event == DOOR_QUIET)
		c->event = door_next(w->fd);
	bool asked = c->event == DOOR_REQUEST || c->event == DOOR_REFUSED;
	int failed = asked ? channel_serve(c) : 0;
	if (c->event == DOOR_CLOSED || (failed && errno != EAGAIN))
		channel_close(c);
	else {
		c->event = failed ? c->event : DOOR_QUIET;
		channel_arm(c);
	}
}

/* A client of the proxy. One that cannot be accepted for want of descriptors waits. */
static void listener_wake(struct watch *w, uint32_t events)
{
	struct channel *c = (struct channel *)w;
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	(void)events;
	if (fd >= 0)
		channel_take(c, fd);
	channel_arm(c);
}

/* The listener comes once, after that only the end. */
static void lifeline_wake(struct watch *w, uint32_t events)
{
	struct broker *b = (struct broker *)(void *)((char *)w - offsetof(struct broker, lifeline));
	struct channel *c = &b->channels[b->channel_count - 1];
	bool closed;
	(void)events;
	AUTO_FD int fd = door_listener(w->fd, &closed);
	if (fd >= 0 && c->watch.fd < 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
		c->watch.fd = TAKE_FD(fd);
		channel_arm(c);
	}
	if (!closed)
		return;
	loop_close(&b->loop, w);
	channel_close(c);
}

static void agent_wake(struct watch *w, uint32_t events)
{
	struct broker *b = (struct broker *)(void *)((char *)w - offsetof(struct broker, agent));
	(void)events;
	b->agent_gone = true;
}

static void control_wake(struct watch *w, uint32_t events)
{
	struct control *control = (struct control *)w;
	control->lost |= (events & EPOLLERR) != 0;
	control_flush(control);
}

/* The process, not the thread that started us, is whose life counts: hence no PDEATHSIG. */
static int watch_agent(struct broker *b, pid_t pid, struct err *e)
{
	if (b->agent.fd >= 0 || pid == 0)
		return 0;
	b->agent = (struct watch){.fd = (int)syscall(SYS_pidfd_open, pid, 0), .wake = agent_wake};
	if (b->agent.fd < 0 || loop_want(&b->loop, &b->agent, EPOLLIN) < 0)
		return err_errno(e, "cannot watch the agent, process %d", pid);
	return 0;
}

/* `endpoint` NULL: the proxy. */
static int open_channel(struct broker *b, int fd, const struct endpoint *endpoint, struct err *e)
{
	struct channel *c = &b->channels[b->channel_count];
	struct watch *w = endpoint ? &c->watch : &b->lifeline;
	pid_t peer;
	if (door_prepare(fd, endpoint != NULL, &peer, e) < 0)
		return err_wrap(e, endpoint ? "--channel" : "--proxy");
	*c = (struct channel){.watch = {.fd = -1, .wake = listener_wake},
		.broker = b,
		.endpoint = endpoint,
		.index = b->channel_count++};
	*w = (struct watch){.fd = fd, .wake = endpoint ? channel_wake : lifeline_wake};
	if (loop_want(&b->loop, w, EPOLLIN) < 0)
		return err_errno(e, "cannot watch channel %u", c->index);
	b->open_channels++;
	return watch_agent(b, peer, e);
}

/* A regular file is always writable, and epoll refuses it. */
static int watch_control(struct broker *b, struct err *e)
{
	struct watch *w = &b->control.watch;
	if (control_open(&b->control, b->options->control_fd, e) < 0)
		return -1;
	w->wake = control_wake;
	if (w->fd >= 0 && loop_want(&b->loop, w, EPOLLOUT | EPOLLET) < 0 && errno != EPERM)
		return err_errno(e, "cannot watch --control %d", w->fd);
	return 0;
}

int broker_open(struct broker *b, const struct options *options, uint64_t fd_limit, struct err *e)
{
	*b = (struct broker){.options = options,
		.budget = options->max_bytes,
		.fd_limit = fd_limit,
		.agent.fd = -1,
		.wake_at_ms = INT64_MAX,
		.linger_until_ms = INT64_MAX,
		.dialer = {.proxy = options->upstream_proxy, .done = connection_dialed}};
	if (pipe2(b->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_errno(e, "cannot create a pipe");
	fcntl(b->pipe[1], F_SETPIPE_SZ, PIPE_BYTES); /* a block comes in small pieces */
	LIST_INIT(&b->live);
	if (loop_open(&b->loop, e) < 0 || watch_control(b, e) < 0 || dialer_open(&b->dialer, e) < 0)
		return -1;
	for (size_t i = 0; i < options->channel_count; i++)
		if (open_channel(b, options->channels[i].fd, &options->channels[i].endpoint, e) < 0)
			return -1;
	return options->proxy_fd < 0 ? 0 : open_channel(b, options->proxy_fd, NULL, e);
}

/* Until something happens. While dials are under way libcurl's sockets are watched too. */
static void wait_and_wake(struct broker *b)
{
	int64_t left_ms = b->wake_at_ms - clock_monotonic_ms();
	int timeout_ms = b->wake_at_ms == INT64_MAX ? -1 : left_ms > 0 ? (int)left_ms : 0;
	if (b->dialer.under_way > 0) {
		bool soon = timeout_ms >= 0 && timeout_ms < DIALS_WAIT_MS;
		dialer_wait(&b->dialer, b->loop.epoll_fd, soon ? timeout_ms : DIALS_WAIT_MS);
		timeout_ms = 0;
	}
	loop_turn(&b->loop, timeout_ms);
}

static bool is_over(const struct broker *b)
{
	bool lingered = clock_monotonic_ms() >= b->linger_until_ms;
	return b->agent_gone || b->control.lost ||
	       (b->open_channels == 0 && (b->live_count == 0 || lingered));
}

int broker_serve(struct broker *b, struct err *e)
{
	while (!is_over(b)) {
		wait_and_wake(b);
		dialer_turn(&b->dialer);
		connections_expire(b, clock_monotonic_ms());
	}
	connections_end(b);
	return b->control.lost ? err_set(e, "nobody takes the facts on --control any more") : 0;
}
