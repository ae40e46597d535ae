#include "broker/broker.h"

#include "base/clock.h"
#include "broker/connection.h"
#include "broker/door.h"
#include "broker/parse/refusal.h"
#include <fcntl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
	REQUESTS_PER_TURN = 32,
	LINGER_MS = 1500,
	PIPE_BYTES = 1 << 20,
	FDS_RESERVED = 24, /* the loop's own, and a socketpair to refuse with */
	FDS_PER_DIAL = 6,  /* two racing sockets, the resolver's */
};

void channel_arm(struct channel *c)
{
	uint32_t events = c->answering ? EPOLLOUT : c->dialing < DIALS_MAX ? EPOLLIN : EPOLLHUP;
	struct watch *w = c->listener.fd >= 0 ? &c->listener : &c->watch;
	if (w->fd >= 0)
		loop_want(&c->broker->loop, w, events);
}

/* The last channel is the agent's life line: without it connections only finish what they have. */
static void channel_close(struct channel *c)
{
	loop_want(&c->broker->loop, &c->listener, 0); /* the jail may hold it too */
	loop_close(&c->broker->loop, &c->listener);
	loop_close(&c->broker->loop, &c->watch);
	own_close(&c->answer_fd);
	if (--c->broker->open_channels == 0)
		c->broker->linger_until_ms = clock_monotonic_ms() + LINGER_MS;
}

/* Sends the answer, or keeps it until the agent takes the ones before it. */
static void channel_answer(struct channel *c, int passed_fd)
{
	c->answer_fd = passed_fd;
	c->answering = door_answer(c->watch.fd, passed_fd) == 0;
	if (!c->answering)
		own_close(&c->answer_fd);
}

static bool descriptors_left(const struct broker *b)
{
	uint64_t used = FDS_RESERVED + 2ull * b->live_count + b->channel_count;
	for (size_t i = 0; i < b->channel_count; i++)
		used += (uint64_t)FDS_PER_DIAL * b->channels[i].dialing;
	return b->live_count < CONNECTIONS_MAX && used + FDS_PER_DIAL + 2 <= b->fd_limit;
}

/* Takes `fd` as a new connection's; refused at once when it cannot be served. */
static void channel_take(struct channel *c, int fd)
{
	const char *full = descriptors_left(c->broker) ? NULL : REFUSED_DIAL;
	connection_begin(c, fd, c->broker->budget_crossed ? REFUSED_BUDGET : full);
}

/* Every request gets a descriptor, a refused one too: it is closed at once, and the fact is said.
 */
static void channel_serve(struct channel *c)
{
	int pair[2] = {-1, -1};
	/* Splicing asks the socket, not the call, whether it may wait; the agent's end may. */
	bool made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 &&
		    fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0;
	channel_answer(c, pair[1]);
	if (made)
		channel_take(c, pair[0]);
	else
		own_close(&pair[0]);
}

/* While nobody waits for requests, a hang-up would be reported for ever. */
static void channel_wake(struct watch *w, uint32_t events)
{
	struct channel *c = (struct channel *)w;
	enum door_event event = DOOR_REQUEST;
	if (c->answering)
		channel_answer(c, c->answer_fd);
	for (int i = 0; !c->answering && c->dialing < DIALS_MAX && i < REQUESTS_PER_TURN; i++) {
		event = door_next(c->watch.fd, NULL);
		if (event == DOOR_QUIET || event == DOOR_CLOSED)
			break;
		if (event == DOOR_REQUEST)
			channel_serve(c);
		else
			channel_answer(c, -1);
	}
	bool hung = events & (EPOLLHUP | EPOLLERR);
	if (event == DOOR_CLOSED || (hung && (event == DOOR_QUIET || c->dialing >= DIALS_MAX)))
		channel_close(c);
	else
		channel_arm(c);
}

/* Accepts the proxy's clients. One that cannot be accepted for want of descriptors waits. */
static void listener_wake(struct watch *w, uint32_t events)
{
	struct channel *c =
		(struct channel *)(void *)((char *)w - offsetof(struct channel, listener));
	(void)events;
	for (int i = 0; c->dialing < DIALS_MAX && i < REQUESTS_PER_TURN; i++) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			break;
		channel_take(c, fd);
	}
	channel_arm(c);
}

/* The proxy's channel: the listener comes once, after that only the end. */
static void proxy_wake(struct watch *w, uint32_t events)
{
	struct channel *c = (struct channel *)w;
	AUTO_FD int fd = -1;
	(void)events;
	enum door_event event = door_next(c->watch.fd, &fd);
	if (event == DOOR_REQUEST && c->listener.fd < 0) {
		c->listener.fd = TAKE_FD(fd);
		if (fcntl(c->listener.fd, F_SETFL, O_NONBLOCK) < 0 ||
			loop_want(&c->broker->loop, &c->listener, EPOLLIN) < 0)
			event = DOOR_CLOSED;
	}
	if (event == DOOR_CLOSED)
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
	unsigned index = (unsigned)b->channel_count++;
	struct channel *c = &b->channels[index];
	pid_t peer;
	if (door_prepare(fd, &peer, e) < 0)
		return err_wrap(e, endpoint ? "--channel" : "--proxy");
	*c = (struct channel){.watch = {.fd = fd, .wake = endpoint ? channel_wake : proxy_wake},
		.listener = {.fd = -1, .wake = listener_wake},
		.broker = b,
		.endpoint = endpoint,
		.index = index,
		.answer_fd = -1};
	if (loop_want(&b->loop, &c->watch, EPOLLIN) < 0)
		return err_errno(e, "cannot watch channel %u", index);
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
		.linger_until_ms = INT64_MAX,
		.dialer = {.proxy = options->upstream_proxy, .done = connection_dialed}};
	if (pipe2(b->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_errno(e, "cannot create a pipe");
	fcntl(b->pipe[1], F_SETPIPE_SZ, PIPE_BYTES); /* a block comes in small pieces */
	LIST_INIT(&b->live);
	TAILQ_INIT(&b->waiting);
	if (loop_open(&b->loop, e) < 0 || watch_control(b, e) < 0 || dialer_open(&b->dialer, e) < 0)
		return -1;
	if (loop_want(&b->loop, &b->dialer.watch, EPOLLIN) < 0)
		return err_errno(e, "cannot watch the dialler");
	for (size_t i = 0; i < options->channel_count; i++)
		if (open_channel(b, options->channels[i].fd, &options->channels[i].endpoint, e) < 0)
			return -1;
	return options->proxy_fd < 0 ? 0 : open_channel(b, options->proxy_fd, NULL, e);
}

static int timeout_ms(const struct broker *b, int64_t now_ms)
{
	const struct connection *first = TAILQ_FIRST(&b->waiting);
	int64_t at_ms = b->dialer.wake_at_ms;
	if (first && first->deadline_ms < at_ms)
		at_ms = first->deadline_ms;
	if (b->linger_until_ms < at_ms)
		at_ms = b->linger_until_ms;
	return at_ms == INT64_MAX ? -1 : at_ms <= now_ms ? 0 : (int)(at_ms - now_ms);
}

static bool is_over(const struct broker *b, int64_t now_ms)
{
	if (b->agent_gone || b->control.lost)
		return true;
	return b->open_channels == 0 && (b->live_count == 0 || now_ms >= b->linger_until_ms);
}

int broker_serve(struct broker *b, struct err *e)
{
	int64_t now_ms = clock_monotonic_ms();
	while (!is_over(b, now_ms)) {
		loop_turn(&b->loop, timeout_ms(b, now_ms));
		now_ms = clock_monotonic_ms();
		dialer_tick(&b->dialer, now_ms);
		connections_expire(b, now_ms);
	}
	connections_end(b);
	return b->control.lost ? err_set(e, "nobody takes the facts on --control any more") : 0;
}
