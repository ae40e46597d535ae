/*
 * A connection: a relay, the attempt to dial for it, and the fact it leaves behind. Through the
 * proxy the client first says where to.
 */
#ifndef BROKER_CONNECTION_H
#define BROKER_CONNECTION_H
#include "broker/broker.h"
#include "broker/parse/proxy_request.h"

/* What only a proxied connection has. */
struct asking {
	struct proxy_request request;
	struct endpoint endpoint;
	bool answered;
};

struct connection {
	struct relay relay;
	struct channel *channel;
	const struct endpoint *endpoint; /* NULL: not said yet */
	struct asking *asking;           /* NULL: the channel's own endpoint */
	struct dial *attempt;            /* NULL: none under way */
	char address[ADDRESS_TEXT_BYTES];
	int64_t started_ms;
	int64_t deadline_ms; /* when the pin must be satisfied; 0: no such time */
	struct connection *next, **link;
	struct connection *next_ready;
	bool queued, over;
};

/* Takes `agent_fd` in any case. NULL: out of memory. */
struct connection *connection_new(struct channel *channel, int agent_fd);
/* Begins: dials the channel's endpoint, or listens to what the client asks for. */
void connection_begin(struct connection *c);
void connection_connected(struct connection *c, const struct dialed *outcome);
void connection_refuse(struct connection *c, enum refusal why);

/* Pumps those that had more to do than one turn allows. */
void connections_continue(struct broker *b);
/* Refuses those whose pin was not satisfied in time. */
void connections_expire(struct broker *b, int64_t now_ms);
/* Ends them all, facts included: the agent is gone. */
void connections_end(struct broker *b);
/* Frees what ended during this turn: events of the same batch may still have pointed
 * there. One that is queued waits for its turn. */
void connections_bury(struct broker *b);
#endif
