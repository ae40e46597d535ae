/*
 * The broker: doors, connections and the dialler on one event loop.
 *
 * One thread serves everything, so an action runs to its end before the next one; only libcurl's
 * resolver has threads of its own. The broker lives as long as its agent, at most.
 */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H
#include "broker/control.h"
#include "broker/dial.h"
#include "broker/door.h"
#include "broker/parse/options.h"
#include "broker/relay.h"

enum {
	CONNECTIONS_MAX = 4096,
	DIALS_MAX = 64, /* at once, per channel: a black hole behind one does not starve another */
	PIN_TIMEOUT_MS = 10000,
};

struct channel {
	struct watch watch; /* fd -1: the agent closed it */
	struct broker *broker;
	const struct endpoint *endpoint; /* NULL: the proxy, whose clients say where to */
	struct watch listener;           /* the proxy's; fd -1: has not come yet */
	unsigned index;
	uid_t uid;
	unsigned dialing;
	uint32_t armed; /* the events asked for, of the listener once it is there */
	bool answering; /* an answer waits until the agent takes the ones before it */
	int answer_fd;  /* what it carries; -1: nothing */
};

struct broker {
	const struct options *options;
	struct loop loop;
	struct dialer dialer;
	struct control control;
	struct watch agent;                        /* a pidfd */
	struct channel channels[CHANNELS_MAX + 1]; /* the proxy's is the last */
	size_t channel_count;
	struct connection *live, *ready, *dead;
	unsigned live_count, waiting_count, open_channels;
	struct block_pool pool;
	uint64_t budget;
	uint64_t fd_limit;
	int64_t closed_at_ms; /* when the last channel was */
	bool budget_crossed;
	bool agent_gone;
};

/* Opens everything that needs the host; `options` is borrowed. After this the process confines
 * itself. `fd_limit`: how many descriptors it may have. */
int broker_open(struct broker *b, const struct options *options, uint64_t fd_limit,
	struct err *e) MUST_CHECK;
/* Asks the agent's end for requests, or for room for an answer; nothing while the dials are used
 * up. */
void channel_arm(struct channel *c);
/* Serves until the agent is gone: 0; or until its facts cannot be delivered: -1. */
int broker_serve(struct broker *b, struct err *e) MUST_CHECK;
#endif
