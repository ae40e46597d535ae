/*
 * A connection: one stream of bytes between the agent's socket and its endpoint's, and the fact it
 * leaves behind. Through the proxy the client first says where to.
 *
 * Each direction owns at most one 64 KiB block, and only while it holds bytes; it reads again when
 * these are gone, so a slow reader slows its writer and nothing else. An end of file travels
 * behind the bytes before it, one direction at a time. What the pin has not approved is held.
 */
#include "base/clock.h"
#include "broker/broker.h"
#include "broker/parse/pin.h"
#include "broker/parse/proxy_request.h"
#include <string.h>

enum { DRAIN_ROUNDS_MAX = 64, PIN_TIMEOUT_MS = 10000, CONNECTIONS_MAX = 4096 };
enum {
	BLOCK_BYTES = 64 * 1024 - 256, /* and its headers: one packet on the loopback interface */
	GROWTH_BYTES = PROXY_HEAD_BYTES - PROXY_REQUEST_MAX_BYTES, /* of a head, once it is ours */
	ROUNDS_MAX = 8,    /* full blocks in one direction before others have their turn */
	FDS_RESERVED = 24, /* the loop's own, and what is made ahead */
	FDS_PER_DIAL = 6,  /* two racing sockets and a copy, the resolver's */
};

/* One end, and what came from it that the other one has not taken. */
struct side {
	struct watch watch; /* fd -1: not connected yet */
	struct connection *owner;
	struct side *peer;
	char *block;       /* NULL: nothing held */
	size_t start, end; /* the bytes held */
	size_t approved;   /* of them, from `start` on */
	uint64_t moved;    /* passed on so far */
	bool ended;        /* it has sent its last byte */
	bool shut;         /* and the other side was told, or is gone */
	bool blocked;      /* it takes no more bytes for now */
	bool hung; /* closed or reset: that will be reported until it is no longer watched */
};

struct connection {
	struct dial dial; /* first: its dialler's answer leads back here */
	struct side agent, upstream;
	struct pin pin;
	struct channel *channel;
	const struct endpoint *endpoint; /* NULL: not said yet */
	int64_t started_ms;
	int64_t deadline_ms; /* when the pin must be satisfied; INT64_MAX: no such time */
	const char *refused;
	const char *ending; /* what the end would be called now: eof, agent, reset */
	const char *closed; /* what it was called, once it is over */
	LIST_ENTRY(connection) siblings;
	struct proxy_request request; /* and what it asks for: through the proxy only */
	struct endpoint asked;
};
_Static_assert(offsetof(struct connection, dial) == 0, "a dial is its connection");

static void refuse(struct connection *c, const char *why)
{
	c->closed = "refused";
	c->refused = why;
}

/* --- blocks -------------------------------------------------------------------------------- */

static bool hold(struct side *s)
{
	if (!s->block)
		s->block = malloc(BLOCK_BYTES + GROWTH_BYTES);
	if (s->block && s->start > 0)
		memmove(s->block, s->block + s->start, s->end - s->start);
	s->end -= s->start;
	s->start = 0;
	return s->block;
}

static void drop(struct side *s)
{
	free(TAKE_PTR(s->block));
	s->start = s->end = s->approved = 0;
}

static bool has_room(const struct side *s)
{
	return !s->ended && !s->shut && s->approved == 0 && s->end - s->start < BLOCK_BYTES;
}

/* Nothing can be written to it any more; what it has sent is still read. */
static void lose_writer(struct side *s)
{
	s->peer->shut = true;
	drop(s->peer);
	s->blocked = false;
	s->owner->ending = s == &s->owner->agent ? "agent" : "reset";
}

/* --- where to ------------------------------------------------------------------------------ */

/* Refused at once when it cannot be dialled for. */
static void dial(struct connection *c, const struct endpoint *endpoint)
{
	c->endpoint = endpoint;
	pin_init(&c->pin, endpoint);
	bool started = dialer_start(&c->channel->broker->dialer, &c->dial, endpoint);
	c->channel->dialing += started;
	if (!started)
		refuse(c, REFUSED_DIAL);
}

/* The operator let this name resolve to private addresses. */
static bool may_be_near(const struct options *o, const struct host_port *asked)
{
	for (size_t i = 0; i < o->near_count; i++)
		if (host_name_covers(&o->near[i], asked))
			return true;
	return false;
}

/* Dials where a client of the proxy wants to go, if that is listed. */
static void choose(struct connection *c)
{
	const struct options *o = c->channel->broker->options;
	const struct endpoint *rule = NULL;
	if (endpoint_decode(&c->asked, c->request.target, false, NULL) == 0)
		for (size_t i = 0; !rule && i < o->rule_count; i++)
			rule = host_rule_covers(&o->rules[i].at, &c->asked.at) ? &o->rules[i]
									       : NULL;
	if (!rule) {
		refuse(c, REFUSED_LISTED);
		return;
	}
	c->asked.reach = may_be_near(o, &c->asked.at) ? REACH_NEAR : rule->reach;
	c->asked.sniffed = !c->request.forwards;
	dial(c, &c->asked);
}

/* Puts the head as the server is to see it where the client's was. */
static void rewrite_head(struct side *s)
{
	char head[PROXY_HEAD_BYTES];
	size_t taken = s->owner->request.bytes;
	size_t len = proxy_request_forward(s->block + s->start, taken, head);
	memmove(s->block + len, s->block + s->start + taken, s->end - s->start - taken);
	memcpy(s->block, head, len);
	s->end = len + s->end - s->start - taken;
	s->start = 0;
}

/* Takes the request out of what the client has sent: what follows it is for the endpoint. */
static void ask(struct connection *c)
{
	struct side *s = &c->agent;
	enum proxy_step step;
	do {
		step = proxy_request_decode(&c->request, s->block + s->start, s->end - s->start);
		if (step == PROXY_FORWARD)
			rewrite_head(s);
		else
			s->start += c->request.bytes;
	} while (step == PROXY_GREET &&
		 send(s->watch.fd, SOCKS_GREETING, 2, MSG_DONTWAIT | MSG_NOSIGNAL) == 2);
	if (step == PROXY_CONNECT || step == PROXY_FORWARD)
		choose(c);
	else if (step != PROXY_MORE)
		refuse(c, REFUSED_HOST);
	if (s->start == s->end)
		drop(s);
}

/* --- moving bytes -------------------------------------------------------------------------- */

/* True when there may be more to read at once. */
static bool fill(struct side *s)
{
	if (!hold(s)) {
		s->owner->closed = "reset";
		return false;
	}
	size_t room = BLOCK_BYTES - s->end;
	ssize_t got = recv(s->watch.fd, s->block + s->end, room, MSG_DONTWAIT);
	bool failed = got < 0 && errno != EAGAIN && errno != EINTR;
	s->ended = got == 0 || failed;
	s->end += got > 0 ? (size_t)got : 0;
	if (failed)
		lose_writer(s);
	if (s->end == 0)
		drop(s);
	return got == (ssize_t)room;
}

static void pass_on(struct side *s)
{
	struct side *to = s->peer;
	int64_t *left = s == &s->owner->agent ? &s->owner->channel->broker->up_left : NULL;
	size_t want = left && *left < (int64_t)s->approved ? (size_t)*left : s->approved;
	if (want == 0) {
		refuse(s->owner, REFUSED_BUDGET);
		return;
	}
	ssize_t put = send(to->watch.fd, s->block + s->start, want, MSG_DONTWAIT | MSG_NOSIGNAL);
	to->blocked = put < (ssize_t)want;
	if (put < 0 && errno != EAGAIN && errno != EINTR)
		lose_writer(to);
	size_t sent = put > 0 ? (size_t)put : 0;
	s->start += sent;
	s->approved -= sent;
	s->moved += sent;
	if (left) {
		*left -= (int64_t)sent;
		s->owner->deadline_ms = INT64_MAX; /* what is held now is the next head */
	}
	if (s->start == s->end)
		drop(s);
}

static void approve(struct side *s)
{
	struct connection *c = s->owner;
	size_t offered = s->end - s->start - s->approved;
	if (offered == 0)
		return;
	char *bytes = s->block + s->start + s->approved;
	if (s == &c->upstream)
		s->approved += pin_reply(&c->pin, bytes, offered);
	else if (c->endpoint)
		s->approved += pin_take(&c->pin, bytes, offered);
	else
		ask(c);
	if (c->pin.refused)
		refuse(c, c->pin.refused);
}

static bool move(struct side *s, const struct side *readable)
{
	const struct connection *c = s->owner;
	struct side *to = s->peer;
	bool more = readable == s && has_room(s) && fill(s);
	approve(s);
	while (!c->closed && s->approved > 0 && to->watch.fd >= 0 && !to->blocked)
		pass_on(s);
	if (s->ended && !s->shut && s->end == s->start && to->watch.fd >= 0) {
		if (!to->ended || !to->shut) /* else both are closed at once */
			shutdown(to->watch.fd, SHUT_WR);
		s->shut = true;
	}
	return more && !c->closed;
}

/* The agent sent its last byte: what the pin still waits for will not come. */
static void judge_end(struct connection *c)
{
	bool holding = c->agent.end > c->agent.start;
	if (!c->agent.ended || c->agent.approved > 0 || c->closed)
		return;
	if (!c->endpoint || (!holding && pin_holds_all(&c->pin)))
		c->closed = "agent";
	else if (holding && c->pin.state != PIN_REPLY)
		refuse(c, pin_unfinished(&c->pin));
}

/* --- life ---------------------------------------------------------------------------------- */

static void say(const struct connection *c)
{
	broker_say(c->channel->broker,
		json_pack("{s:i, s:s, s:s?, s:I, s:I, s:I, s:s, s:s*, s:o*, s:s*}", "channel",
			(int)(c->channel - c->channel->broker->channels), "endpoint",
			c->endpoint ? c->endpoint->at.text : c->request.target, "addr",
			c->dial.address[0] ? c->dial.address : NULL, "up",
			(json_int_t)c->agent.moved, "down", (json_int_t)c->upstream.moved, "ms",
			(json_int_t)(clock_monotonic_ms() - c->started_ms), "close", c->closed,
			"refused", c->refused, "proxy",
			c->dial.proxy_status ? json_integer(c->dial.proxy_status) : NULL, "cause",
			c->dial.cause));
}

/* Tells the proxy's client how it went. */
static bool answer(struct connection *c)
{
	char reply[PROXY_REPLY_BYTES];
	size_t len = proxy_answer(&c->request, c->refused, reply);
	return send(c->agent.watch.fd, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

/* Closing a socket with unread bytes sends a reset, which may overtake what was forwarded: after a
 * refusal what the peers sent is read away, so that they see an end. */
static void close_side(struct connection *c, struct side *s)
{
	int fd = s->watch.fd;
	for (int i = 0; c->refused && fd >= 0 && hold(s) && i < DRAIN_ROUNDS_MAX; i++)
		if (recv(fd, s->block, BLOCK_BYTES, MSG_DONTWAIT) <= 0)
			break;
	drop(s);
	own_close(&s->watch.fd);
}

static void end(struct connection *c)
{
	struct broker *b = c->channel->broker;
	if (c->dial.easy) {
		dialer_cancel(&b->dialer, TAKE_PTR(c->dial.easy));
		c->channel->dialing--;
	}
	channel_arm(c->channel);
	if (c->refused && !c->channel->endpoint && c->upstream.watch.fd < 0)
		answer(c);
	if (b->control.fd >= 0)
		say(c);
	LIST_REMOVE(c, siblings);
	connection_tidy(b);
	b->over = c;
	b->chores = true;
	/* Nobody waits for the sockets to close once the agent is gone and the server was told; but
	 * what they have to say is heard no more. */
	if (!c->agent.hung || c->refused || broker_want(b, &c->agent.watch, 0) < 0 ||
		broker_want(b, &c->upstream.watch, 0) < 0)
		connection_tidy(b);
}

bool connection_tidy(struct broker *b)
{
	struct connection *c = TAKE_PTR(b->over);
	if (!c)
		return false;
	close_side(c, &c->agent);
	close_side(c, &c->upstream);
	b->live_count--;
	free(c);
	return true;
}

static void arm(struct side *s, bool reading)
{
	struct connection *c = s->owner;
	uint32_t events =
		(reading ? EPOLLIN : 0u) | (s->blocked ? EPOLLOUT : 0u) | (s->hung ? 0u : EPOLLHUP);
	if (!c->closed && s->watch.fd >= 0 &&
		broker_want(c->channel->broker, &s->watch, events) < 0)
		c->closed = "reset";
}

/* While it is dialled for nothing is read from the agent, nor awaited. A plain request may come
 * whenever the agent has one, but then in one go. A later one's head waits only once the server has
 * taken what is before it. */
static void settle(struct connection *c)
{
	bool held = pin_holds_all(&c->pin);
	bool next = c->pin.state == PIN_NEXT_HEAD && c->agent.approved == 0;
	if (c->dial.easy || (c->endpoint && !held && !next))
		c->deadline_ms = INT64_MAX;
	else if (c->deadline_ms == INT64_MAX && (c->pin.state != PIN_HEAD || c->agent.end > 0))
		c->deadline_ms = clock_monotonic_ms() + PIN_TIMEOUT_MS;
	c->channel->broker->wake_at_ms = MIN(c->channel->broker->wake_at_ms, c->deadline_ms);
	arm(&c->agent, has_room(&c->agent) && !c->dial.easy);
	if (!held)
		arm(&c->upstream, has_room(&c->upstream));
	if (c->closed)
		end(c);
}

/* Downwards first: the server's answer may free what is held. While all is, nothing upstream is
 * watched, so that nothing of it is readable. */
static void run(struct connection *c, const struct side *readable)
{
	bool more = true;
	for (int i = 0; more && !c->closed && i < ROUNDS_MAX; i++) {
		more = move(&c->upstream, readable);
		if (!c->closed)
			more |= move(&c->agent, readable);
		judge_end(c);
		if (!c->closed && c->agent.shut && c->upstream.shut)
			c->closed = c->ending;
	}
	settle(c);
}

/* A socketpair hangs up when its other end is closed for good: nobody reads any more. */
static void side_wake(struct watch *w)
{
	struct side *s = w->owner;
	s->hung |= (w->ready & (EPOLLHUP | EPOLLERR)) != 0;
	s->blocked &= !(w->ready & EPOLLOUT);
	if (s == &s->owner->agent && w->ready & EPOLLHUP)
		lose_writer(s);
	run(s->owner, w->ready & ~(uint32_t)EPOLLOUT ? s : NULL);
}

/* What is in use, and what the worst dial may need besides. */
static bool descriptors_left(const struct broker *b)
{
	uint64_t sockets = b->channel_count + 2 * (b->live_count + 1) + FDS_RESERVED;
	uint64_t dials = FDS_PER_DIAL * (b->dialer.under_way + 1);
	return b->live_count < CONNECTIONS_MAX && sockets + dials <= b->options->fd_limit;
}

void connection_begin(struct channel *channel, int agent_fd)
{
	struct broker *b = channel->broker;
	struct connection *c = calloc(1, sizeof(*c));
	if (!c) {
		close(agent_fd);
		return;
	}
	*c = (struct connection){.channel = channel,
		.endpoint = channel->endpoint,
		.agent = {.owner = c, .peer = &c->upstream},
		.upstream = {.owner = c, .peer = &c->agent},
		.ending = "eof",
		.started_ms = clock_monotonic_ms(),
		.deadline_ms = INT64_MAX};
	c->agent.watch = (struct watch){.fd = agent_fd, .wake = side_wake, .owner = &c->agent};
	c->upstream.watch = (struct watch){.fd = -1, .wake = side_wake, .owner = &c->upstream};
	if (b->up_left == 0 || !descriptors_left(b))
		refuse(c, b->up_left == 0 ? REFUSED_BUDGET : REFUSED_DIAL);
	else if (c->endpoint)
		dial(c, c->endpoint);
	LIST_INSERT_HEAD(&b->live, c, siblings);
	b->live_count++;
	settle(c);
}

void connection_dialed(struct dial *a, int fd, const char *refused)
{
	struct connection *c = (struct connection *)a;
	c->channel->dialing--;
	channel_arm(c->channel);
	c->upstream.watch.fd = fd;
	bool answers = !c->channel->endpoint && !c->request.forwards;
	if (fd < 0 || (answers && !answer(c)))
		refuse(c, refused);
	run(c, &c->agent);
}

void connections_sweep(struct broker *b, int64_t now_ms)
{
	struct connection *next;
	if (now_ms < b->wake_at_ms)
		return;
	b->wake_at_ms = b->linger_until_ms;
	if (b->listener.wanted & EPOLLET)
		channel_arm(b->listener.owner);
	for (struct connection *c = LIST_FIRST(&b->live); c; c = next) {
		next = LIST_NEXT(c, siblings);
		if (now_ms == INT64_MAX)
			c->closed = "agent";
		else if (now_ms >= c->deadline_ms)
			refuse(c, c->endpoint ? pin_unfinished(&c->pin) : REFUSED_HOST);
		settle(c);
	}
}
