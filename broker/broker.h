/*
 * The broker: channels, connections and the dialler on one event loop.
 *
 * One thread serves everything, so an action runs to its end before the next one; only libcurl's
 * resolver has threads of its own. The broker lives as long as its agent, at most.
 */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H
#include "base/json.h"
#include "broker/dial.h"
#include "broker/parse/options.h"
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/queue.h>

/* What the loop watches, level-triggered; embedded in whatever owns the descriptor. */
struct watch {
	int fd;                        /* -1: none */
	uint32_t wanted;               /* asked for so far; 0: not watched */
	uint32_t ready;                /* what it is woken for */
	void (*wake)(struct watch *w); /* NULL: `ready` says it */
	void *owner;                   /* for `wake` */
};

/*
 * A channel: on the agent's end a byte asks for a connection, and a connected descriptor answers.
 * Through the proxy's channel a listening socket comes instead, whose clients say where to.
 *
 * Descriptors that come in with a byte are never accepted: the kernel is given no room for them and
 * closes them. Source: unix(7), SCM_RIGHTS and SCM_CREDENTIALS.
 */
struct channel {
	struct watch watch; /* fd -1: closed */
	struct broker *broker;
	const struct endpoint *endpoint; /* NULL: the proxy */
	unsigned dialing;
	bool asked;  /* and not answered yet */
	bool honest; /* by our own user, without descriptors; others are answered without one */
};

struct broker {
	const struct options *options;
	int epoll_fd;
	struct dialer dialer;
	/* One JSON line of facts per closed connection, never payload. Where the kernel lacks a
	 * part of the broker's own confinement, {"notice": TEXT} goes before them. */
	struct watch control;  /* fd -1: nobody wants facts */
	struct buf facts;      /* what their reader has not taken */
	bool facts_lost;       /* it is gone, or too far behind: to be treated as fatal */
	struct watch agent;    /* a pidfd */
	struct watch listener; /* of the proxy */
	struct channel channels[FDS_MAX]; /* as the facts number them; the proxy's is the last */
	unsigned channel_count, open_channels;
	LIST_HEAD(, connection) live;
	unsigned live_count;     /* with the one that is over */
	struct connection *over; /* ended, its sockets still to be closed; NULL: none */
	int pair[2];             /* made ahead, for the next one; -1: none */
	bool chores;             /* there may be some, for while nothing is ready */
	int64_t up_left;         /* bytes that may still leave */
	int64_t wake_at_ms;      /* when the next sweep is due, or before */
	int64_t linger_until_ms; /* once the last channel is closed; INT64_MAX: not yet */
};

/* Opens everything that needs the host; `options` is borrowed. After this the process confines
 * itself. */
int broker_open(struct broker *broker, const struct options *options, struct err *e) MUST_CHECK;
/* Serves until the agent is gone: 0; or until its facts cannot be delivered: -1. */
int broker_serve(struct broker *broker, struct err *e) MUST_CHECK;

/* Asks for exactly `events` from now on: 0 stops watching, EPOLLHUP alone waits for the end and for
 * errors, which are reported whatever else is asked for. -1 with errno. */
int broker_want(struct broker *broker, struct watch *watch, uint32_t events);
/* Takes a line of facts; NULL: out of memory. Their reader may be slow without stalling anything.
 */
void broker_say(struct broker *broker, json_t *line);

/* Checks that `fd` is a connected AF_UNIX stream socket made by our own user, and watches it; and
 * its maker as the agent, unless that is in another PID namespace. `to` NULL: the listener
 * comes through it. */
int channel_open(
	struct broker *broker, int fd, const struct endpoint *to, struct err *e) MUST_CHECK;
/* Asks the agent's end for requests, or for room for an answer; for its end alone while the dials
 * are used up. */
void channel_arm(struct channel *channel);
/* Makes the next connection's pair. False: there is one, or cannot be. */
bool channel_prepare(struct broker *broker);

/* Begins to serve `agent_fd`, which it takes in any case: dials the channel's endpoint, or listens
 * to what the client asks for. What cannot be served is refused at once. */
void connection_begin(struct channel *channel, int agent_fd);
/* The dialler's answer. */
void connection_dialed(struct dial *dial, int fd, const char *refused);
/* Refuses those whose pin was not satisfied in time. INT64_MAX: ends them all, facts included. */
void connections_sweep(struct broker *broker, int64_t now_ms);
/* Closes the sockets of the one that is over. False: there is none. */
bool connection_tidy(struct broker *broker);
#endif
