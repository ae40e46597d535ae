#include "broker/broker.h"

#include "base/clock.h"
#include "broker/connection.h"
#include <fcntl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
	REQUESTS_PER_TURN = 32,
	TICK_MS = 250,
	LINGER_MS = 1500,
	FDS_RESERVED = 24, /* the loop's own, and a socketpair to refuse with */
	FDS_PER_DIAL = 6,  /* two racing sockets, the resolver's */
};

void channel_arm(struct channel *c)
{
	uint32_t events = c->answering ? EPOLLOUT : EPOLLIN;
	if (!c->answering && (c->dialing >= DIALS_MAX || control_is_behind(&c->broker->control)))
		events = 0;
	struct watch *w = c->listener.fd >= 0 ? &c->listener : &c->watch;
	if (w->fd >= 0 && events != c->armed)
		loop_change(&c->broker->loop, w, events);
	c->armed = events;
}

static void channel_close(struct channel *c)
{
	own_close(&c->watch.fd);
	own_close(&c->answer_fd);
	own_close(&c->listener.fd);
	if (--c->broker->open_channels == 0)
		c->broker->closed_at_ms = clock_monotonic_ms();
}

/* Sends the answer; false when it has to wait or the channel is gone. */
static bool channel_answer(struct channel *c, int passed_fd)
{
	int sent = door_answer(c->watch.fd, passed_fd);
	c->answering = sent == 0;
	c->answer_fd = sent == 0 ? passed_fd : -1;
	if (sent != 0 && passed_fd >= 0)
		close(passed_fd);
	return sent != 0;
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
	bool room = descriptors_left(c->broker);
	struct connection *connection = connection_new(c, fd);
	if (connection && c->broker->budget_crossed)
		connection_refuse(connection, REFUSED_BUDGET);
	else if (connection && !room)
		connection_refuse(connection, REFUSED_DIAL);
	else if (connection)
		connection_begin(connection);
}

/* Every request gets a descriptor, a refused one too: it is closed at once, and the fact is said.
 */
static bool channel_serve(struct channel *c)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return channel_answer(c, -1);
	bool sent = channel_answer(c, pair[1]);
	channel_take(c, pair[0]);
	return sent;
}

static void channel_wake(struct watch *w, uint32_t events)
{
	struct channel *c = (struct channel *)w;
	enum door_event event = DOOR_REQUEST;
	bool free_to_ask = !c->answering || channel_answer(c, c->answer_fd);
	for (int i = 0; free_to_ask && c->dialing < DIALS_MAX && i < REQUESTS_PER_TURN; i++) {
		event = door_next(c->watch.fd, c->uid);
		if (event == DOOR_QUIET || event == DOOR_CLOSED)
			break;
		free_to_ask = event == DOOR_REQUEST ? channel_serve(c) : channel_answer(c, -1);
	}
	/* Without EPOLLIN a hang-up would be reported for ever: nobody waits for an answer then. */
	if (event == DOOR_CLOSED || (events & (EPOLLHUP | EPOLLERR) && event != DOOR_REQUEST) ||
		(events & EPOLLHUP && c->dialing >= DIALS_MAX))
		channel_close(c);
	else
		channel_arm(c);
}

/* Accepts the proxy's clients. One that cannot be accepted for want of descriptors waits. */
static void listener_wake(struct watch *w, uint32_t events)
{
	struct channel *c = (struct channel *)((char *)w - offsetof(struct channel, listener));
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
	int fd = -1;
	(void)events;
	enum door_event event = door_receive(c->watch.fd, &fd);
	if (event == DOOR_REQUEST && c->listener.fd < 0) {
		c->listener = (struct watch){.fd = TAKE_FD(fd), .wake = listener_wake};
		if (fcntl(c->listener.fd, F_SETFL, O_NONBLOCK) < 0 ||
			loop_add(&c->broker->loop, &c->listener, EPOLLIN) < 0)
			event = DOOR_CLOSED;
	}
	own_close(&fd);
	if (event == DOOR_CLOSED)
		channel_close(c);
}

static void agent_wake(struct watch *w, uint32_t events)
{
	struct broker *b = (struct broker *)((char *)w - offsetof(struct broker, agent));
	(void)events;
	b->agent_gone = true;
}

static void control_wake(struct watch *w, uint32_t events)
{
	struct control *control = (struct control *)w;
	struct broker *b = (struct broker *)((char *)w - offsetof(struct broker, control));
	bool was_behind = control_is_behind(control);
	control->lost |= (events & EPOLLERR) != 0;
	control_flush(control);
	for (size_t i = 0; was_behind && i < b->channel_count; i++)
		channel_arm(&b->channels[i]);
}

static void dial_over(void *owner, const struct dialed *outcome)
{
	connection_connected(owner, outcome);
}

/* The process, not the thread that started us, is whose life counts: hence no PDEATHSIG. */
static int watch_agent(struct broker *b, pid_t pid, struct err *e)
{
	if (b->agent.fd >= 0 || pid == 0)
		return 0;
	b->agent = (struct watch){.fd = (int)syscall(SYS_pidfd_open, pid, 0), .wake = agent_wake};
	if (b->agent.fd < 0 || loop_add(&b->loop, &b->agent, EPOLLIN) < 0)
		return err_errno(e, "cannot watch the agent, process %d", pid);
	return 0;
}

/* `endpoint` NULL: the proxy. */
static int open_channel(struct broker *b, int fd, const struct endpoint *endpoint, struct err *e)
{
	unsigned index = (unsigned)b->channel_count++;
	struct channel *c = &b->channels[index];
	struct door_peer peer;
	if (door_prepare(fd, &peer, e) < 0)
		return err_wrap(e, endpoint ? "--channel" : "--proxy");
	*c = (struct channel){.watch = {.fd = fd, .wake = endpoint ? channel_wake : proxy_wake},
		.listener.fd = -1,
		.broker = b,
		.endpoint = endpoint,
		.index = index,
		.uid = peer.uid,
		.answer_fd = -1,
		.armed = EPOLLIN};
	if (loop_add(&b->loop, &c->watch, EPOLLIN) < 0)
		return err_errno(e, "cannot watch channel %u", index);
	b->open_channels++;
	return watch_agent(b, peer.pid, e);
}

/* A regular file is always writable, and epoll refuses it. */
static int watch_control(struct broker *b, struct err *e)
{
	if (control_open(&b->control, b->options->control_fd, e) < 0)
		return -1;
	b->control.watch.wake = control_wake;
	if (b->control.watch.fd < 0)
		return 0;
	if (loop_add(&b->loop, &b->control.watch, EPOLLOUT | EPOLLET) < 0 && errno != EPERM)
		return err_errno(e, "cannot watch --control %d", b->control.watch.fd);
	return 0;
}

int broker_open(struct broker *b, const struct options *options, uint64_t fd_limit, struct err *e)
{
	*b = (struct broker){
		.options = options, .budget = options->max_bytes, .fd_limit = fd_limit};
	b->agent.fd = -1;
	if (loop_open(&b->loop, e) < 0 || watch_control(b, e) < 0 ||
		dialer_open(&b->dialer, options->upstream_proxy, dial_over, e) < 0)
		return -1;
	if (loop_add(&b->loop, &b->dialer.watch, EPOLLIN) < 0)
		return err_errno(e, "cannot watch the dialler");
	for (size_t i = 0; i < options->channel_count; i++)
		if (open_channel(b, options->channels[i].fd, &options->channels[i].endpoint, e) < 0)
			return -1;
	return options->proxy_fd < 0 ? 0 : open_channel(b, options->proxy_fd, NULL, e);
}

static int timeout_ms(const struct broker *b, int64_t now_ms)
{
	bool ticking = b->waiting_count > 0 || b->open_channels == 0;
	int64_t wait_ms = b->ready ? 0 : ticking ? TICK_MS : -1;
	int64_t dial_ms = b->dialer.wake_at_ms < 0 ? -1 : b->dialer.wake_at_ms - now_ms;
	if (dial_ms < 0 && b->dialer.wake_at_ms >= 0)
		dial_ms = 0;
	if (dial_ms >= 0 && (wait_ms < 0 || dial_ms < wait_ms))
		wait_ms = dial_ms;
	return (int)wait_ms;
}

/* The last channel is the agent's life line: without it connections only finish what they have. */
static bool is_over(const struct broker *b, int64_t now_ms)
{
	if (b->agent_gone || b->control.lost)
		return true;
	return b->open_channels == 0 && (!b->live || now_ms >= b->closed_at_ms + LINGER_MS);
}

int broker_serve(struct broker *b, struct err *e)
{
	int64_t now_ms = clock_monotonic_ms();
	while (!is_over(b, now_ms)) {
		loop_turn(&b->loop, timeout_ms(b, now_ms));
		now_ms = clock_monotonic_ms();
		dialer_tick(&b->dialer, now_ms);
		connections_continue(b);
		connections_expire(b, now_ms);
		connections_bury(b);
	}
	connections_end(b);
	return b->control.lost ? err_set(e, "nobody takes the facts on --control any more") : 0;
}
