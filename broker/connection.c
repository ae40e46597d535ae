#include "broker/connection.h"

#include "base/clock.h"
#include <stddef.h>

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
			.endpoint = c->channel->endpoint->text,
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
	if (!c || relay_init(&c->relay, channel->endpoint, agent_fd) < 0) {
		close(agent_fd);
		free(c);
		return NULL;
	}
	c->next = b->live;
	c->link = &b->live;
	if (b->live)
		b->live->link = &c->next;
	b->live = c;
	b->live_count++;
	if (channel->endpoint->tls)
		set_deadline(c, c->started_ms + PIN_TIMEOUT_MS);
	return c;
}

void connection_dial(struct connection *c)
{
	struct channel *channel = c->channel;
	channel->dialing++;
	c->attempt = dialer_start(&channel->broker->dialer, channel->endpoint, c);
	if (c->attempt)
		return;
	channel->dialing--;
	connection_refuse(c, REFUSED_DIAL);
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
	else
		pump(c);
}

void connection_refuse(struct connection *c, enum refusal why)
{
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
			connection_refuse(c, pin_unfinished(&c->relay.pin));
	}
}

void connections_end(struct broker *b)
{
	while (b->live) {
		b->live->relay.closed = "agent";
		end(b->live);
	}
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
			free(c);
		}
		c = next;
	}
}
