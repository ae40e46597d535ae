#include "broker/connection.h"

#include "base/clock.h"
#include "broker/parse/refusal.h"
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

enum {
	BLOCK_BYTES = 64 * 1024,
	BULK_BYTES = 16 * 1024, /* who sent as much at once is likely to go on */
	ROUNDS_MAX = 8,         /* full blocks in one direction before others have their turn */
	DRAIN_ROUNDS_MAX = 64,
	PIN_TIMEOUT_MS = 10000,
};

/* --- blocks and sides ---------------------------------------------------------------------- */

static char *spare; /* the block that was given back last */

static bool flow_hold(struct flow *f)
{
	if (!f->block)
		f->block = spare ? TAKE_PTR(spare) : malloc(BLOCK_BYTES);
	if (f->block && f->start > 0)
		memmove(f->block, f->block + f->start, f->end - f->start);
	f->end -= f->start;
	f->start = 0;
	return f->block;
}

static void flow_drop(struct flow *f)
{
	if (f->block) {
		free(spare);
		spare = TAKE_PTR(f->block);
	}
	f->start = f->end = f->approved = 0;
}

static bool flow_has_room(const struct flow *f)
{
	return !f->ended && !f->shut && f->approved == 0 && f->end - f->start < BLOCK_BYTES;
}

/* Nothing can be written to `side` any more; what it has sent is still read. */
static void lose_writer(struct connection *c, struct side *side)
{
	struct flow *f = side == &c->agent ? &c->down : &c->up;
	f->shut = true;
	flow_drop(f);
	side->blocked = false;
	c->ending = side == &c->agent ? "agent" : "reset";
}

static void end_as(struct connection *c, const char *closed, const char *refused)
{
	c->closed = closed;
	c->refused = refused;
}

/* --- moving bytes -------------------------------------------------------------------------- */

/* How many of `want` bytes the budget has left. */
static size_t may_leave(const struct connection *c, const struct flow *f, size_t want)
{
	uint64_t budget = c->channel->broker->budget;
	return f == &c->up && want > budget ? (size_t)budget : want;
}

static void has_left(struct connection *c, struct flow *f, size_t count)
{
	uint64_t *budget = &c->channel->broker->budget;
	f->moved += count;
	if (f == &c->up && *budget != UINT64_MAX)
		*budget -= count;
}

/* The end, a failure, or not now. */
static bool fill_nothing(struct connection *c, struct flow *f, ssize_t got)
{
	bool failed = got < 0 && errno != EAGAIN && errno != EINTR;
	f->ended = got == 0 || failed;
	if (failed)
		lose_writer(c, f->from);
	if (f->end == 0)
		flow_drop(f);
	return false;
}

/* True when there may be more to read at once. */
static bool fill(struct connection *c, struct flow *f)
{
	if (!flow_hold(f)) {
		end_as(c, "reset", NULL);
		return false;
	}
	char *free_bytes = f->block + f->end;
	size_t room = BLOCK_BYTES - f->end;
	ssize_t got = recv(f->from->watch.fd, free_bytes, room, MSG_DONTWAIT);
	f->bulk = got >= BULK_BYTES;
	if (got > 0) {
		if (f == &c->down)
			pin_reply(&c->pin, free_bytes, (size_t)got);
		f->end += (size_t)got;
		return (size_t)got == room;
	}
	return fill_nothing(c, f, got);
}

static void pass_on(struct connection *c, struct flow *f)
{
	struct side *to = f->to;
	size_t want = may_leave(c, f, f->approved);
	if (want == 0) {
		c->channel->broker->budget_crossed = true;
		end_as(c, "refused", REFUSED_BUDGET);
		return;
	}
	ssize_t put = send(to->watch.fd, f->block + f->start, want, MSG_DONTWAIT | MSG_NOSIGNAL);
	to->blocked = put < (ssize_t)want;
	if (put < 0) {
		if (errno != EAGAIN && errno != EINTR)
			lose_writer(c, to);
		return;
	}
	f->start += (size_t)put;
	f->approved -= (size_t)put;
	has_left(c, f, (size_t)put);
	if (f->start == f->end)
		flow_drop(f);
}

static void ask(struct connection *c);

static void approve(struct connection *c, struct flow *f)
{
	size_t passed, offered = f->end - f->start - f->approved;
	if (f == &c->down) {
		f->approved += offered;
	} else if (!c->endpoint && offered > 0) {
		ask(c);
	} else if (offered > 0) {
		const char *refused =
			pin_take(&c->pin, f->block + f->start + f->approved, offered, &passed);
		f->approved += passed;
		if (refused)
			end_as(c, "refused", refused);
	}
}

/* `fill` for bytes that nobody has to look at: they go from socket to socket by reference, and what
 * the other side does not take at once becomes the block. */
static bool pour(struct connection *c, struct flow *f)
{
	const int *pipe = c->channel->broker->pipe;
	size_t most = may_leave(c, f, BLOCK_BYTES);
	size_t unseen = f == &c->up                 ? pin_unseen(&c->pin)
			: c->pin.state == PIN_REPLY ? 0
						    : SIZE_MAX;
	if (most > unseen)
		most = unseen;
	if (most == 0 || f->end > f->start || f->to->watch.fd < 0 || !flow_hold(f))
		return fill(c, f);
	ssize_t got = splice(f->from->watch.fd, NULL, pipe[1], NULL, most, SPLICE_F_NONBLOCK);
	if (got <= 0)
		return fill_nothing(c, f, got);
	ssize_t put = splice(pipe[0], NULL, f->to->watch.fd, NULL, (size_t)got, SPLICE_F_NONBLOCK);
	has_left(c, f, put > 0 ? (size_t)put : 0);
	f->bulk = got >= BULK_BYTES;
	if (f == &c->up)
		pin_take(&c->pin, NULL, (size_t)got, &unseen);
	f->end = f->approved = (size_t)(got - (put > 0 ? put : 0));
	if (f->end == 0)
		flow_drop(f);
	else if (read(pipe[0], f->block, f->end) != (ssize_t)f->end)
		end_as(c, "reset", NULL);
	return (size_t)got == most;
}

static bool move(struct connection *c, struct flow *f, const struct side *readable)
{
	bool more = readable == f->from && flow_has_room(f) && (f->bulk ? pour(c, f) : fill(c, f));
	approve(c, f);
	while (!c->closed && f->approved > 0 && f->to->watch.fd >= 0 && !f->to->blocked)
		pass_on(c, f);
	if (f->ended && !f->shut && f->end == f->start && f->to->watch.fd >= 0) {
		shutdown(f->to->watch.fd, SHUT_WR);
		f->shut = true;
	}
	return more && !c->closed;
}

/* The agent sent its last byte: what the pin still waits for will not come. */
static void judge_end(struct connection *c)
{
	if (!c->up.ended || c->up.approved > 0 || c->closed)
		return;
	bool holding = c->up.end > c->up.start;
	if (!c->endpoint || (!holding && pin_holds_all(&c->pin)))
		end_as(c, "agent", NULL);
	else if (holding && pin_wants_more(&c->pin))
		end_as(c, "refused", pin_unfinished(&c->pin));
}

/* --- life ---------------------------------------------------------------------------------- */

static void set_deadline(struct connection *c, int64_t deadline_ms)
{
	struct broker *b = c->channel->broker;
	if (c->deadline_ms)
		TAILQ_REMOVE(&b->waiting, c, others_waiting);
	if (deadline_ms)
		TAILQ_INSERT_TAIL(&b->waiting, c, others_waiting);
	c->deadline_ms = deadline_ms;
}

static void say(const struct connection *c)
{
	control_say(&c->channel->broker->control,
		json_pack("{s:i, s:s, s:s?, s:I, s:I, s:I, s:s, s:s*}", "channel",
			(int)c->channel->index, "endpoint",
			c->endpoint ? c->endpoint->text : c->request.target, "addr",
			c->dial.address[0] ? c->dial.address : NULL, "up", (json_int_t)c->up.moved,
			"down", (json_int_t)c->down.moved, "ms",
			(json_int_t)(clock_monotonic_ms() - c->started_ms), "close", c->closed,
			"refused", c->refused));
}

/* Tells the proxy's client how it went. */
static bool answer(struct connection *c)
{
	char reply[PROXY_REPLY_MAX_BYTES];
	size_t len = proxy_answer(&c->request, c->refused, reply);
	return send(c->agent.watch.fd, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

/* Closing a socket with unread bytes sends a reset, which may overtake what was forwarded: after a
 * refusal what the peers sent is read away, so that they see an end. */
static void close_side(struct connection *c, struct side *side)
{
	int fd = side->watch.fd;
	if (fd < 0)
		return;
	if (c->refused)
		shutdown(fd, SHUT_WR);
	for (int i = 0; c->refused && flow_hold(&c->up) && i < DRAIN_ROUNDS_MAX; i++)
		if (recv(fd, c->up.block, BLOCK_BYTES, MSG_DONTWAIT) <= 0)
			break;
	loop_close(&c->channel->broker->loop, &side->watch);
}

static void dial_over(struct connection *c)
{
	if (c->channel->dialing-- == DIALS_MAX)
		channel_arm(c->channel);
}

static void end(struct connection *c)
{
	struct broker *b = c->channel->broker;
	if (c->dial.easy) {
		dialer_cancel(&b->dialer, &c->dial);
		dial_over(c);
	}
	if (c->refused && !c->channel->endpoint && c->upstream.watch.fd < 0)
		answer(c);
	set_deadline(c, 0);
	close_side(c, &c->agent);
	close_side(c, &c->upstream);
	flow_drop(&c->up);
	flow_drop(&c->down);
	say(c);
	LIST_REMOVE(c, siblings);
	b->live_count--;
	free(c);
}

static void arm(struct connection *c, struct side *side, bool reading)
{
	uint32_t events = (reading ? EPOLLIN : 0u) | (side->blocked ? EPOLLOUT : 0u) |
			  (side->hung ? 0u : EPOLLHUP);
	if (side->watch.fd >= 0 && loop_want(&c->channel->broker->loop, &side->watch, events) < 0 &&
		!c->closed)
		end_as(c, "reset", NULL);
}

/* A plain request may come whenever the agent has one, but then in one go. */
static void settle(struct connection *c)
{
	const struct endpoint *fixed = c->channel->endpoint;
	bool held = pin_holds_all(&c->pin);
	if (c->endpoint && !held)
		set_deadline(c, 0);
	else if (c->deadline_ms == 0 && (!fixed || fixed->tls || c->up.end > 0))
		set_deadline(c, clock_monotonic_ms() + PIN_TIMEOUT_MS);
	if (!c->closed) {
		arm(c, &c->agent, flow_has_room(&c->up));
		arm(c, &c->upstream, !held && flow_has_room(&c->down));
	}
	if (c->closed)
		end(c);
}

/* Downwards first: the server's answer may free what is held. */
static void run(struct connection *c, const struct side *readable)
{
	bool more = true;
	for (int i = 0; more && !c->closed && i < ROUNDS_MAX; i++) {
		more = !pin_holds_all(&c->pin) && move(c, &c->down, readable);
		if (!c->closed)
			more |= move(c, &c->up, readable);
		judge_end(c);
		if (!c->closed && c->up.shut && c->down.shut)
			end_as(c, c->ending, NULL);
	}
	settle(c);
}

/* A socketpair hangs up when its other end is closed for good: nobody reads any more. */
static void side_wake(struct watch *w, uint32_t events)
{
	struct side *side = (struct side *)w;
	struct connection *c = side->owner;
	side->hung |= (events & (EPOLLHUP | EPOLLERR)) != 0;
	side->blocked &= !(events & EPOLLOUT);
	if (side == &c->agent && events & EPOLLHUP)
		lose_writer(c, side);
	run(c, events & ~(uint32_t)EPOLLOUT ? side : NULL);
}

/* Refused at once when it cannot be dialled for. */
static void dial(struct connection *c, const struct endpoint *endpoint)
{
	c->endpoint = endpoint;
	pin_init(&c->pin, endpoint);
	if (dialer_start(&c->channel->broker->dialer, &c->dial, endpoint))
		c->channel->dialing++;
	else
		end_as(c, "refused", REFUSED_DIAL);
}

/* Dials where a client of the proxy wants to go, if that is listed. */
static void choose(struct connection *c)
{
	const struct options *o = c->channel->broker->options;
	const struct endpoint *rule = NULL;
	if (endpoint_decode(&c->asked, c->request.target, NULL) == 0)
		for (size_t i = 0; !rule && i < o->rule_count; i++)
			rule = endpoint_matches(&o->rules[i], &c->asked) ? &o->rules[i] : NULL;
	if (!rule) {
		end_as(c, "refused", REFUSED_HOST);
		return;
	}
	c->asked.reach = rule->reach;
	c->asked.sniffed = true;
	dial(c, &c->asked);
}

/* Takes the request out of what the client has sent: what follows it is for the endpoint. */
static void ask(struct connection *c)
{
	struct flow *up = &c->up;
	enum proxy_step step = PROXY_GREET;
	while (step == PROXY_GREET) {
		step = proxy_request_decode(
			&c->request, up->block + up->start, up->end - up->start);
		if (step == PROXY_GREET || step == PROXY_CONNECT)
			up->start += c->request.bytes;
		if (step == PROXY_GREET && send(c->agent.watch.fd, SOCKS_GREETING, 2,
						   MSG_DONTWAIT | MSG_NOSIGNAL) != 2)
			step = PROXY_BAD;
	}
	if (up->start == up->end)
		flow_drop(up);
	if (step == PROXY_CONNECT)
		choose(c);
	else if (step == PROXY_BAD)
		end_as(c, "refused", REFUSED_HOST);
}

void connection_begin(struct channel *channel, int agent_fd, const char *refused)
{
	struct broker *b = channel->broker;
	struct connection *c = calloc(1, sizeof(*c));
	if (!c) {
		close(agent_fd);
		return;
	}
	c->channel = channel;
	c->endpoint = channel->endpoint;
	c->agent = (struct side){.owner = c, .watch = {.fd = agent_fd, .wake = side_wake}};
	c->upstream = (struct side){.owner = c, .watch = {.fd = -1, .wake = side_wake}};
	c->up = (struct flow){.from = &c->agent, .to = &c->upstream};
	c->down = (struct flow){.from = &c->upstream, .to = &c->agent};
	c->ending = "eof";
	c->started_ms = clock_monotonic_ms();
	LIST_INSERT_HEAD(&b->live, c, siblings);
	b->live_count++;
	if (refused)
		end_as(c, "refused", refused);
	else if (c->endpoint)
		dial(c, c->endpoint);
	settle(c);
}

void connection_dialed(struct dial *a, int fd, const char *refused)
{
	struct connection *c =
		(struct connection *)(void *)((char *)a - offsetof(struct connection, dial));
	dial_over(c);
	c->upstream.watch.fd = fd;
	if (fd < 0)
		end_as(c, "refused", refused);
	else if (!c->channel->endpoint && !answer(c))
		end_as(c, "refused", REFUSED_DIAL);
	run(c, NULL);
}

void connections_expire(struct broker *b, int64_t now_ms)
{
	struct connection *c;
	while ((c = TAILQ_FIRST(&b->waiting)) && now_ms >= c->deadline_ms) {
		end_as(c, "refused", c->endpoint ? pin_unfinished(&c->pin) : REFUSED_HOST);
		end(c);
	}
}

void connections_end(struct broker *b)
{
	struct connection *c;
	while ((c = LIST_FIRST(&b->live))) {
		end_as(c, "agent", NULL);
		end(c);
	}
}
