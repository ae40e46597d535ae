/*
 * The broker: channels, connections and the dialler on one event loop.
 *
 * One thread serves everything, so an action runs to its end before the next one; only libcurl's
 * resolver has threads of its own. The broker lives at most as long as its agent.
 */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H
#include "base/json.h"
#include "broker/dial.h"
#include "broker/parse/options.h"
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/queue.h>

/* A descriptor that the loop watches, level-triggered; embedded in its owner. */
struct watch {
	int fd;                        /* -1: none */
	uint32_t wanted;               /* the events asked for; 0: not watched */
	uint32_t ready;                /* the events that woke it */
	void (*wake)(struct watch *w); /* NULL: only `ready` is set */
	void *owner;                   /* passed to `wake` */
};

/*
 * A channel: a byte on the agent's end asks for a connection, and a connected descriptor answers.
 * On the proxy's channel a listening socket comes instead, whose clients name their destination.
 *
 * Descriptors that come in with a byte are never accepted: the kernel is given no room for them and
 * closes them. Source: unix(7), SCM_RIGHTS and SCM_CREDENTIALS.
 */
struct channel {
	struct watch watch; /* fd -1: closed */
	struct broker *broker;
	const struct endpoint *endpoint; /* NULL: the proxy */
	unsigned dialing;
	bool asked; /* asked, and not answered yet */
	/* The byte came from our own user, without descriptors; others are answered without one. */
	bool honest;
};

struct broker {
	const struct options *options;
	int epoll_fd;
	struct dialer dialer;
	/* One JSON line of facts per closed connection, never payload. If the kernel lacks a part
	 * of the broker's own confinement, {"notice": TEXT} precedes them. */
	struct watch control;             /* fd -1: facts are not wanted */
	struct buf facts;                 /* facts that the reader has not taken */
	bool facts_lost;                  /* the reader is gone, or too far behind: a fatal error */
	struct watch agent;               /* a pidfd */
	struct watch listener;            /* of the proxy */
	struct channel channels[FDS_MAX]; /* numbered as in the facts; the proxy's is the last */
	unsigned channel_count, open_channels;
	LIST_HEAD(, connection) live;
	unsigned live_count;     /* includes the one that is over */
	struct connection *over; /* ended, its sockets not closed yet; NULL: none */
	int pair[2];             /* made ahead for the next connection; -1: none */
	bool chores;             /* some may wait for a moment without events */
	int64_t up_left;         /* bytes that may still be sent */
	int64_t wake_at_ms;      /* the next sweep is due then, or before */
	int64_t linger_until_ms; /* set once the last channel is closed; INT64_MAX: not yet */
};

/* Opens everything that needs the host; `options` is borrowed. Afterwards the process confines
 * itself. */
int broker_open(struct broker *broker, const struct options *options, struct err *e) MUST_CHECK;
/* Serves until the agent is gone, and returns 0; or until facts cannot be delivered, and returns
 * -1. */
int broker_serve(struct broker *broker, struct err *e) MUST_CHECK;

/* Asks for exactly `events` from now on: 0 stops watching; EPOLLHUP alone waits for the end and for
 * errors, which are always reported. Returns -1 with errno. */
int broker_want(struct broker *broker, struct watch *watch, uint32_t events);
/* Takes a line of facts; NULL: out of memory. A slow reader delays nothing else. */
void broker_say(struct broker *broker, json_t *line);

/* Checks that `fd` is a connected AF_UNIX stream socket made by our own user, and watches it.
 * Watches its maker as the agent, unless that is in another PID namespace. `to` NULL: the listener
 * comes through it. */
int channel_open(
	struct broker *broker, int fd, const struct endpoint *to, struct err *e) MUST_CHECK;
/* Watches the agent's end for requests, or for room for an answer; only for its end while no more
 * dials are possible. */
void channel_arm(struct channel *channel);
/* Makes the next connection's pair. Returns false if there is one already, or none can be made. */
bool channel_prepare(struct broker *broker);

/* Begins to serve `agent_fd`, which it takes in any case: dials the channel's endpoint, or reads
 * the client's request. Refuses at once what cannot be served. */
void connection_begin(struct channel *channel, int agent_fd);
/* Takes the dialler's answer. */
void connection_dialed(struct dial *dial, int fd, const char *refused);
/* Refuses connections whose pin was not satisfied in time. INT64_MAX: ends all of them, with their
 * facts. */
void connections_sweep(struct broker *broker, int64_t now_ms);
/* Closes the sockets of the connection that is over. Returns false if there is none. */
bool connection_tidy(struct broker *broker);
#endif
