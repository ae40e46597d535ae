#include "broker/connection.h"

#include "base/clock.h"
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

static void set_deadline(struct connection *c, int64_t deadline_ms)
{
	struct broker *b = c->channel->broker;
	b->waiting_count -= c->deadline_ms != 0;
	b->waiting_count += deadline_ms != 0;
	c->deadline_ms = deadline_ms;
}

static void say(const struct connection *c)
{
	const struct relay *r = &c->relay;
	control_say(&c->channel->broker->control,
		&(struct fact){.channel = c->channel->index,
			.endpoint = c->endpoint ? c->endpoint->text : c->asking->request.target,
			.address = c->address,
			.up_bytes = r->up.moved,
			.down_bytes = r->down.moved,
			.wall_ms = clock_monotonic_ms() - c->started_ms,
			.closed = r->closed,
			.refused = r->refused});
}

static void attempt_over(struct connection *c)
{
	c->attempt = NULL;
	if (c->channel->dialing-- == DIALS_MAX)
		channel_arm(c->channel);
}

static void end(struct connection *c)
{
	struct broker *b = c->channel->broker;
	if (c->attempt) {
		dialer_cancel(&b->dialer, c->attempt);
		attempt_over(c);
	}
	set_deadline(c, 0);
	b->budget_crossed |= c->relay.refused == REFUSED_BUDGET;
	relay_done(&c->relay);
	say(c);
	c->over = true;
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	b->live_count--;
	c->next = b->dead;
	b->dead = c;
}

static void leave(struct connection *c)
{
	c->relay.closed = "agent";
	end(c);
}

static void pump(struct connection *c)
{
	struct broker *b = c->channel->broker;
	if (c->over)
		return;
	bool more = !c->relay.closed && relay_pump(&c->relay);
	if (c->relay.closed) {
		end(c);
		return;
	}
	/* A plain request may come whenever the agent has one, but then in one go. */
	if (!pin_holds_all(&c->relay.pin))
		set_deadline(c, 0);
	else if (c->deadline_ms == 0 && c->relay.up.end > 0)
		set_deadline(c, clock_monotonic_ms() + PIN_TIMEOUT_MS);
	if (more && !c->queued) {
		c->queued = true;
		c->next_ready = b->ready;
		b->ready = c;
	}
}

static void wake_agent(struct watch *w, uint32_t events)
{
	struct connection *c = (void *)((char *)w - offsetof(struct connection, relay.agent));
	if (!c->over)
		relay_see(&c->relay, &c->relay.agent, events);
	pump(c);
}

static void wake_upstream(struct watch *w, uint32_t events)
{
	struct connection *c = (void *)((char *)w - offsetof(struct connection, relay.upstream));
	if (!c->over)
		relay_see(&c->relay, &c->relay.upstream, events);
	pump(c);
}

static void set_endpoint(struct connection *c, const struct endpoint *endpoint)
{
	c->endpoint = endpoint;
	pin_init(&c->relay.pin, endpoint);
}

/* --- through the proxy --------------------------------------------------------------------- */

static void dial(struct connection *c);

/* Tells the client how it went, and from now on relays what it sends. */
static bool answer(struct connection *c, enum refusal refused)
{
	char reply[PROXY_REPLY_MAX_BYTES];
	int fd = c->relay.agent.watch.fd;
	size_t len = proxy_answer(&c->asking->request, refusal_text(refused), reply);
	c->asking->answered = true;
	c->relay.agent.watch.wake = wake_agent;
	/* Events of the asking were not kept: look again for data and for the end. */
	relay_see(&c->relay, &c->relay.agent, EPOLLIN | EPOLLRDHUP);
	return send(fd, reply, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

static void choose(struct connection *c)
{
	const struct options *o = c->channel->broker->options;
	struct endpoint *asked = &c->asking->endpoint;
	const char *target = c->asking->request.target;
	const struct endpoint *rule = NULL;
	if (endpoint_decode(asked, target, strlen(target), NULL) == 0)
		for (size_t i = 0; !rule && i < o->rule_count; i++)
			rule = endpoint_matches(&o->rules[i], asked) ? &o->rules[i] : NULL;
	if (!rule) {
		connection_refuse(c, REFUSED_HOST);
		return;
	}
	asked->reach = rule->reach;
	asked->sniffed = true;
	set_endpoint(c, asked);
	set_deadline(c, 0);
	dial(c);
}

/* Only the request itself is taken out of the socket: what follows it is the relay's. */
static void listen_to(struct connection *c, bool ended)
{
	char bytes[PROXY_REQUEST_MAX_BYTES];
	struct proxy_request *request = &c->asking->request;
	int fd = c->relay.agent.watch.fd;
	enum proxy_step step = PROXY_GREET;
	while (step == PROXY_GREET) {
		ssize_t len = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
		if (len < 0 && errno != EAGAIN)
			ended = true;
		step = proxy_request_decode(request, bytes, len < 0 ? 0 : (size_t)len);
		if (step == PROXY_GREET || step == PROXY_CONNECT)
			recv(fd, bytes, request->bytes, MSG_DONTWAIT);
		if (step == PROXY_GREET &&
			send(fd, SOCKS_GREETING, 2, MSG_DONTWAIT | MSG_NOSIGNAL) != 2)
			step = PROXY_BAD;
	}
	if (step == PROXY_CONNECT)
		choose(c);
	else if (step == PROXY_BAD)
		connection_refuse(c, REFUSED_HOST);
	else if (ended)
		leave(c);
}

static void wake_asking(struct watch *w, uint32_t events)
{
	struct connection *c = (void *)((char *)w - offsetof(struct connection, relay.agent));
	if (!c->over && !c->endpoint)
		listen_to(c, (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
}

/* --- life ---------------------------------------------------------------------------------- */

struct connection *connection_new(struct channel *channel, int agent_fd)
{
	struct broker *b = channel->broker;
	struct connection *c = calloc(1, sizeof(*c));
	if (c) {
		c->channel = channel;
		c->started_ms = clock_monotonic_ms();
		c->relay.loop = &b->loop;
		c->relay.pool = &b->pool;
		c->relay.budget = &b->budget;
		c->relay.agent.watch.wake = wake_agent;
		c->relay.upstream.watch.wake = wake_upstream;
	}
	bool asks = !channel->endpoint;
	if (c && asks)
		c->asking = calloc(1, sizeof(*c->asking));
	if (!c || (asks && !c->asking) || relay_init(&c->relay, agent_fd) < 0) {
		close(agent_fd);
		if (c)
			free(c->asking);
		free(c);
		return NULL;
	}
	if (asks)
		c->relay.agent.watch.wake = wake_asking;
	else
		set_endpoint(c, channel->endpoint);
	c->next = b->live;
	c->link = &b->live;
	if (b->live)
		b->live->link = &c->next;
	b->live = c;
	b->live_count++;
	if (asks || channel->endpoint->tls)
		set_deadline(c, c->started_ms + PIN_TIMEOUT_MS);
	return c;
}

static void dial(struct connection *c)
{
	struct channel *channel = c->channel;
	channel->dialing++;
	c->attempt = dialer_start(&channel->broker->dialer, c->endpoint, c);
	if (c->attempt)
		return;
	channel->dialing--;
	connection_refuse(c, REFUSED_DIAL);
}

void connection_begin(struct connection *c)
{
	if (c->endpoint)
		dial(c);
	else
		listen_to(c, false);
}

void connection_connected(struct connection *c, const struct dialed *outcome)
{
	attempt_over(c);
	snprintf(c->address, sizeof(c->address), "%s", outcome->address);
	if (outcome->fd < 0) {
		connection_refuse(c, outcome->refused);
		return;
	}
	if (relay_connect(&c->relay, outcome->fd) < 0)
		connection_refuse(c, REFUSED_DIAL);
	else if (c->asking && !answer(c, REFUSED_NOT))
		connection_refuse(c, REFUSED_DIAL);
	else
		pump(c);
}

void connection_refuse(struct connection *c, enum refusal why)
{
	if (c->asking && !c->asking->answered)
		answer(c, why);
	relay_refuse(&c->relay, why);
	end(c);
}

void connections_continue(struct broker *b)
{
	struct connection *c = b->ready;
	b->ready = NULL;
	while (c) {
		struct connection *next = c->next_ready;
		c->queued = false;
		pump(c);
		c = next;
	}
}

void connections_expire(struct broker *b, int64_t now_ms)
{
	if (b->waiting_count == 0)
		return;
	for (struct connection *c = b->live, *next; c; c = next) {
		next = c->next;
		if (c->deadline_ms != 0 && now_ms >= c->deadline_ms)
			connection_refuse(
				c, c->endpoint ? pin_unfinished(&c->relay.pin) : REFUSED_HOST);
	}
}

void connections_end(struct broker *b)
{
	while (b->live)
		leave(b->live);
}

void connections_bury(struct broker *b)
{
	struct connection *c = b->dead;
	b->dead = NULL;
	while (c) {
		struct connection *next = c->next;
		if (c->queued) {
			c->next = b->dead;
			b->dead = c;
		} else {
			free(c->asking);
			free(c);
		}
		c = next;
	}
}
