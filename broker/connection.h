/*
 * A connection: one stream of bytes between the agent's socket and its endpoint's, and the fact it
 * leaves behind. Through the proxy the client first says where to.
 *
 * Each direction owns at most one 64 KiB block, and only while it holds bytes; it reads again when
 * these are gone, so a slow reader slows its writer and nothing else. An end of file travels
 * behind the bytes before it, one direction at a time. What the pin has not approved is held.
 */
#ifndef BROKER_CONNECTION_H
#define BROKER_CONNECTION_H
#include "broker/broker.h"
#include "broker/parse/pin.h"
#include "broker/parse/proxy_request.h"

/* One end, and what came from it that the other one has not taken. */
struct side {
	struct watch watch; /* fd -1: not connected yet */
	struct connection *owner;
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
	struct side agent, upstream;
	struct pin pin;
	struct channel *channel;
	const struct endpoint *endpoint; /* NULL: not said yet */
	struct dial dial;
	int64_t started_ms;
	int64_t deadline_ms; /* when the pin must be satisfied; INT64_MAX: no such time */
	const char *refused;
	const char *ending; /* what the end would be called now: eof, agent, reset */
	const char *closed; /* what it was called, once it is over */
	LIST_ENTRY(connection) siblings;
	struct proxy_request request; /* and what it asks for: through the proxy only */
	struct endpoint asked;
};

/* Begins to serve `agent_fd`, which it takes in any case: dials the channel's endpoint, or listens
 * to what the client asks for. What cannot be served is refused at once. */
void connection_begin(struct channel *channel, int agent_fd);
/* The dialler's answer. */
void connection_dialed(struct dial *a, int fd, const char *refused);
/* Refuses those whose pin was not satisfied in time. INT64_MAX: ends them all, facts included. */
void connections_sweep(struct broker *b, int64_t now_ms);
#endif
