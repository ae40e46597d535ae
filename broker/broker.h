/*
 * The broker: channels, connections and the dialler on one event loop.
 *
 * One thread serves everything, so an action runs to its end before the next one; only libcurl's
 * resolver has threads of its own. The broker lives as long as its agent, at most.
 */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H
#include "broker/channel.h"
#include "broker/control.h"
#include "broker/dial.h"
#include "broker/parse/options.h"
#include <sys/queue.h>

struct broker {
	const struct options *options;
	struct loop loop;
	struct dialer dialer;
	struct control control;
	int pipe[2];           /* empty: what bytes go through from one socket to the other */
	struct watch agent;    /* a pidfd */
	struct watch lifeline; /* of the proxy: its listener comes through it */
	struct channel channels[FDS_MAX]; /* the proxy's is the last */
	unsigned channel_count, open_channels;
	LIST_HEAD(, connection) live;
	unsigned live_count;
	uint64_t up_left, down_left; /* bytes that may still leave; that may come: no limit */
	uint64_t fd_limit;
	int64_t wake_at_ms;      /* when the first connection runs out of time, or before */
	int64_t linger_until_ms; /* once the last channel is closed; INT64_MAX: not yet */
};

/* Opens everything that needs the host; `options` is borrowed. After this the process confines
 * itself. `fd_limit`: how many descriptors it may have. */
int broker_open(struct broker *b, const struct options *options, uint64_t fd_limit,
	struct err *e) MUST_CHECK;
/* Serves until the agent is gone: 0; or until its facts cannot be delivered: -1. */
int broker_serve(struct broker *b, struct err *e) MUST_CHECK;
#endif
