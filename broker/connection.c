/*
 * A connection: one stream of bytes between the agent's socket and its endpoint's, and its fact at
 * the end. Through the proxy the client first names its destination.
 *
 * Each direction owns at most one 64 KiB block, and only while it holds bytes; it reads again when
 * these are gone, so a slow reader slows down only its writer. An end of file is passed on after
 * the bytes before it, one direction at a time. Bytes that the pin has not approved are held.
 */
#include "base/clock.h"
#include "broker/broker.h"
#include "broker/parse/pin.h"
#include "broker/parse/proxy_request.h"
#include <string.h>

enum { DRAIN_ROUNDS_MAX = 64, PIN_TIMEOUT_MS = 10000, CONNECTIONS_MAX = 4096 };
enum {
	BLOCK_BYTES = 64 * 1024 - 256, /* with its headers: one packet on the loopback interface */
	/* How much our version of a head may be longer. */
	GROWTH_BYTES = PROXY_HEAD_BYTES - PROXY_REQUEST_MAX_BYTES,
	ROUNDS_MAX = 8,    /* full blocks in one direction before others have their turn */
	FDS_RESERVED = 24, /* the loop's own, and those made ahead */
	FDS_PER_DIAL = 6,  /* two racing sockets and a copy; the resolver's */
};

/* One end, and the bytes from it that the other end has not taken. */
struct side {
	struct watch watch; /* fd -1: not connected yet */
	struct connection *owner;
	struct side *peer;
	char *block;       /* NULL: nothing held */
	size_t start, end; /* the bytes held */
	size_t approved;   /* of the held bytes, from `start` on */
	uint64_t moved;    /* bytes passed on so far */
	bool ended;        /* it has sent its last byte */
	bool shut;         /* the other side was told, or has gone */
	bool blocked;      /* it takes no more bytes for now */
	bool hung;         /* closed or reset, which is reported until it is no longer watched */
};

struct connection {
	struct dial dial; /* first: the dialler's answer leads back to the connection */
	struct side agent, upstream;
	struct pin pin;
	struct channel *channel;
	const struct endpoint *endpoint; /* NULL: not named yet */
	int64_t started_ms;
	int64_t deadline_ms; /* when the pin must be satisfied; INT64_MAX: never */
	const char *refused;
	const char *ending; /* how an end now would be called: eof, agent, reset */
	const char *closed; /* how it was called, once it is over */
	LIST_ENTRY(connection) siblings;
	struct proxy_request request; /* through the proxy only; `asked` is its destination */
	struct endpoint asked;
};
_Static_assert(offsetof(struct connection, dial) == 0, "a dial is its connection");

static void refuse(struct connection *connection, const char *why)
{
	connection->closed = "refused";
	connection->refused = why;
}

/* --- blocks -------------------------------------------------------------------------------- */

static bool hold(struct side *side)
{
	if (!side->block)
		side->block = malloc(BLOCK_BYTES + GROWTH_BYTES);
	if (side->block && side->start > 0)
		memmove(side->block, side->block + side->start, side->end - side->start);
	side->end -= side->start;
	side->start = 0;
	return side->block;
}

static void drop(struct side *side)
{
	free(TAKE_PTR(side->block));
	side->start = side->end = side->approved = 0;
}

static bool has_room(const struct side *side)
{
	return !side->ended && !side->shut && side->approved == 0 &&
	       side->end - side->start < BLOCK_BYTES;
}

/* Marks an end that nothing can be written to any more; what it has sent is still read. */
static void lose_writer(struct side *side)
{
	side->peer->shut = true;
	drop(side->peer);
	side->blocked = false;
	side->owner->ending = side == &side->owner->agent ? "agent" : "reset";
}

/* --- where to ------------------------------------------------------------------------------ */

/* Dials. Refuses at once if that is impossible. */
static void dial(struct connection *connection, const struct endpoint *endpoint)
{
	connection->endpoint = endpoint;
	pin_init(&connection->pin, endpoint);
	bool started =
		dialer_start(&connection->channel->broker->dialer, &connection->dial, endpoint);
	connection->channel->dialing += started;
	if (!started)
		refuse(connection, REFUSED_DIAL);
}

/* Reports whether the operator lets this name resolve to private addresses. */
static bool may_be_near(const struct options *options, const struct host_port *asked)
{
	for (size_t i = 0; i < options->near_count; i++)
		if (host_name_covers(&options->near[i], asked))
			return true;
	return false;
}

/* Dials the destination of a client of the proxy, if that is listed. */
static void choose(struct connection *connection)
{
	const struct options *o = connection->channel->broker->options;
	const struct endpoint *rule = NULL;
	if (endpoint_decode(&connection->asked, connection->request.target, false, NULL) == 0)
		for (size_t i = 0; !rule && i < o->rule_count; i++)
			rule = host_rule_covers(&o->rules[i].at, &connection->asked.at)
				       ? &o->rules[i]
				       : NULL;
	if (!rule) {
		refuse(connection, REFUSED_LISTED);
		return;
	}
	connection->asked.reach = may_be_near(o, &connection->asked.at) ? REACH_NEAR : rule->reach;
	connection->asked.sniffed = !connection->request.forwards;
	dial(connection, &connection->asked);
}

/* Replaces the client's head by the one for the server. */
static void rewrite_head(struct side *side)
{
	char head[PROXY_HEAD_BYTES];
	size_t taken = side->owner->request.bytes;
	size_t len = proxy_request_forward(side->block + side->start, taken, head);
	memmove(side->block + len, side->block + side->start + taken,
		side->end - side->start - taken);
	memcpy(side->block, head, len);
	side->end = len + side->end - side->start - taken;
	side->start = 0;
}

/* Takes the request out of the client's bytes; those after it are for the endpoint. */
static void ask(struct connection *connection)
{
	struct side *s = &connection->agent;
	enum proxy_step step;
	do {
		step = proxy_request_decode(
			&connection->request, s->block + s->start, s->end - s->start);
		if (step == PROXY_FORWARD)
			rewrite_head(s);
		else
			s->start += connection->request.bytes;
	} while (step == PROXY_GREET &&
		 send(s->watch.fd, SOCKS_GREETING, 2, MSG_DONTWAIT | MSG_NOSIGNAL) == 2);
	if (step == PROXY_CONNECT || step == PROXY_FORWARD)
		choose(connection);
	else if (step != PROXY_MORE)
		refuse(connection, REFUSED_HOST);
	if (s->start == s->end)
		drop(s);
}

/* --- moving bytes -------------------------------------------------------------------------- */

/* Reads. Returns true if there may be more to read at once. */
static bool fill(struct side *side)
{
	if (!hold(side)) {
		side->owner->closed = "reset";
		return false;
	}
	size_t room = BLOCK_BYTES - side->end;
	ssize_t got = recv(side->watch.fd, side->block + side->end, room, MSG_DONTWAIT);
	bool failed = got < 0 && errno != EAGAIN && errno != EINTR;
	side->ended = got == 0 || failed;
	side->end += got > 0 ? (size_t)got : 0;
	if (failed)
		lose_writer(side);
	if (side->end == 0)
		drop(side);
	return got == (ssize_t)room;
}

static void pass_on(struct side *side)
{
	struct side *to = side->peer;
	int64_t *left = side == &side->owner->agent ? &side->owner->channel->broker->up_left : NULL;
	size_t want = left && *left < (int64_t)side->approved ? (size_t)*left : side->approved;
	if (want == 0) {
		refuse(side->owner, REFUSED_BUDGET);
		return;
	}
	ssize_t put =
		send(to->watch.fd, side->block + side->start, want, MSG_DONTWAIT | MSG_NOSIGNAL);
	to->blocked = put < (ssize_t)want;
	if (put < 0 && errno != EAGAIN && errno != EINTR)
		lose_writer(to);
	size_t sent = put > 0 ? (size_t)put : 0;
	side->start += sent;
	side->approved -= sent;
	side->moved += sent;
	if (left) {
		*left -= (int64_t)sent;
		side->owner->deadline_ms = INT64_MAX; /* the held bytes are the next head */
	}
	if (side->start == side->end)
		drop(side);
}

static void approve(struct side *side)
{
	struct connection *c = side->owner;
	size_t offered = side->end - side->start - side->approved;
	if (offered == 0)
		return;
	char *bytes = side->block + side->start + side->approved;
	if (side == &c->upstream)
		side->approved += pin_reply(&c->pin, bytes, offered);
	else if (c->endpoint)
		side->approved += pin_take(&c->pin, bytes, offered);
	else
		ask(c);
	if (c->pin.refused)
		refuse(c, c->pin.refused);
}

static bool move(struct side *side, const struct side *readable)
{
	const struct connection *c = side->owner;
	struct side *to = side->peer;
	bool more = readable == side && has_room(side) && fill(side);
	approve(side);
	while (!c->closed && side->approved > 0 && to->watch.fd >= 0 && !to->blocked)
		pass_on(side);
	if (side->ended && !side->shut && side->end == side->start && to->watch.fd >= 0) {
		if (!to->ended || !to->shut) /* else both are closed at once */
			shutdown(to->watch.fd, SHUT_WR);
		side->shut = true;
	}
	return more && !c->closed;
}

/* Refuses a connection whose agent has sent its last byte if the pin still waits for more. */
static void judge_end(struct connection *connection)
{
	bool holding = connection->agent.end > connection->agent.start;
	if (!connection->agent.ended || connection->agent.approved > 0 || connection->closed)
		return;
	if (!connection->endpoint || (!holding && pin_holds_all(&connection->pin)))
		connection->closed = "agent";
	else if (holding && connection->pin.state != PIN_REPLY)
		refuse(connection, pin_unfinished(&connection->pin));
}

/* --- life ---------------------------------------------------------------------------------- */

static void say(const struct connection *connection)
{
	broker_say(connection->channel->broker,
		json_pack("{s:i, s:s, s:s?, s:I, s:I, s:I, s:s, s:s*, s:o*, s:s*}", "channel",
			(int)(connection->channel - connection->channel->broker->channels),
			"endpoint",
			connection->endpoint ? connection->endpoint->at.text
					     : connection->request.target,
			"addr", connection->dial.address[0] ? connection->dial.address : NULL, "up",
			(json_int_t)connection->agent.moved, "down",
			(json_int_t)connection->upstream.moved, "ms",
			(json_int_t)(clock_monotonic_ms() - connection->started_ms), "close",
			connection->closed, "refused", connection->refused, "proxy",
			connection->dial.proxy_status ? json_integer(connection->dial.proxy_status)
						      : NULL,
			"cause", connection->dial.cause));
}

/* Sends the proxy's client the result. */
static bool answer(struct connection *connection)
{
	char reply[PROXY_REPLY_BYTES];
	size_t len = proxy_answer(&connection->request, connection->refused, reply);
	return send(connection->agent.watch.fd, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)len;
}

/* Closes one end. Closing a socket with unread bytes sends a reset, which may overtake forwarded
 * bytes. So after a refusal the peers' bytes are read and dropped, and they see an end. */
static void close_side(struct connection *connection, struct side *side)
{
	int fd = side->watch.fd;
	for (int i = 0; connection->refused && fd >= 0 && hold(side) && i < DRAIN_ROUNDS_MAX; i++)
		if (recv(fd, side->block, BLOCK_BYTES, MSG_DONTWAIT) <= 0)
			break;
	drop(side);
	own_close(&side->watch.fd);
}

static void end(struct connection *connection)
{
	struct broker *b = connection->channel->broker;
	if (connection->dial.easy) {
		dialer_cancel(&b->dialer, TAKE_PTR(connection->dial.easy));
		connection->channel->dialing--;
	}
	channel_arm(connection->channel);
	if (connection->refused && !connection->channel->endpoint &&
		connection->upstream.watch.fd < 0)
		answer(connection);
	if (b->control.fd >= 0)
		say(connection);
	LIST_REMOVE(connection, siblings);
	connection_tidy(b);
	b->over = connection;
	b->chores = true;
	/* The sockets can be closed later if the agent has gone and the server was told; but their
	 * bytes are no longer read. */
	if (!connection->agent.hung || connection->refused ||
		broker_want(b, &connection->agent.watch, 0) < 0 ||
		broker_want(b, &connection->upstream.watch, 0) < 0)
		connection_tidy(b);
}

bool connection_tidy(struct broker *broker)
{
	struct connection *c = TAKE_PTR(broker->over);
	if (!c)
		return false;
	close_side(c, &c->agent);
	close_side(c, &c->upstream);
	broker->live_count--;
	free(c);
	return true;
}

static void arm(struct side *side, bool reading)
{
	struct connection *c = side->owner;
	uint32_t events = (reading ? EPOLLIN : 0u) | (side->blocked ? EPOLLOUT : 0u) |
			  (side->hung ? 0u : EPOLLHUP);
	if (!c->closed && side->watch.fd >= 0 &&
		broker_want(c->channel->broker, &side->watch, events) < 0)
		c->closed = "reset";
}

/* Decides what to read. While dialling, nothing is read from the agent, nor expected. A plain
 * request may come at any time, but then without pauses. The head of a later request has a deadline
 * only once the server has taken the bytes before it. */
static void want_bytes(struct connection *connection)
{
	bool held = pin_holds_all(&connection->pin);
	bool next = connection->pin.state == PIN_NEXT_HEAD && connection->agent.approved == 0;
	if (connection->dial.easy || (connection->endpoint && !held && !next))
		connection->deadline_ms = INT64_MAX;
	else if (connection->deadline_ms == INT64_MAX &&
		 (connection->pin.state != PIN_HEAD || connection->agent.end > 0))
		connection->deadline_ms = clock_monotonic_ms() + PIN_TIMEOUT_MS;
	connection->channel->broker->wake_at_ms =
		MIN(connection->channel->broker->wake_at_ms, connection->deadline_ms);
	arm(&connection->agent, has_room(&connection->agent) && !connection->dial.easy);
	if (!held)
		arm(&connection->upstream, has_room(&connection->upstream));
	if (connection->closed)
		end(connection);
}

/* Moves bytes, those from the server first: its answer may release held ones. While all bytes are
 * held, the server's end is not watched, so none of it is readable. */
static void run(struct connection *connection, const struct side *readable)
{
	bool more = true;
	for (int i = 0; more && !connection->closed && i < ROUNDS_MAX; i++) {
		more = move(&connection->upstream, readable);
		if (!connection->closed)
			more |= move(&connection->agent, readable);
		judge_end(connection);
		if (!connection->closed && connection->agent.shut && connection->upstream.shut)
			connection->closed = connection->ending;
	}
	want_bytes(connection);
}

/* Handles an event of one end. A socketpair hangs up when its other end is closed for good: then
 * nobody reads any more. */
static void side_wake(struct watch *watch)
{
	struct side *s = watch->owner;
	s->hung |= (watch->ready & (EPOLLHUP | EPOLLERR)) != 0;
	s->blocked &= !(watch->ready & EPOLLOUT);
	if (s == &s->owner->agent && watch->ready & EPOLLHUP)
		lose_writer(s);
	run(s->owner, watch->ready & ~(uint32_t)EPOLLOUT ? s : NULL);
}

/* Reports whether enough descriptors are left for another connection, with those in use and the
 * most that its dial may need. */
static bool descriptors_left(const struct broker *broker)
{
	uint64_t sockets = broker->channel_count + 2 * (broker->live_count + 1) + FDS_RESERVED;
	uint64_t dials = FDS_PER_DIAL * (broker->dialer.under_way + 1);
	return broker->live_count < CONNECTIONS_MAX && sockets + dials <= broker->options->fd_limit;
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
	want_bytes(c);
}

void connection_dialed(struct dial *dial, int fd, const char *refused)
{
	struct connection *c = (struct connection *)dial;
	c->channel->dialing--;
	channel_arm(c->channel);
	c->upstream.watch.fd = fd;
	bool answers = !c->channel->endpoint && !c->request.forwards;
	if (fd < 0 || (answers && !answer(c)))
		refuse(c, refused);
	run(c, &c->agent);
}

void connections_sweep(struct broker *broker, int64_t now_ms)
{
	struct connection *next;
	if (now_ms < broker->wake_at_ms)
		return;
	broker->wake_at_ms = broker->linger_until_ms;
	if (broker->listener.wanted & EPOLLET)
		channel_arm(broker->listener.owner);
	for (struct connection *c = LIST_FIRST(&broker->live); c; c = next) {
		next = LIST_NEXT(c, siblings);
		if (now_ms == INT64_MAX)
			c->closed = "agent";
		else if (now_ms >= c->deadline_ms)
			refuse(c, c->endpoint ? pin_unfinished(&c->pin) : REFUSED_HOST);
		want_bytes(c);
	}
}
