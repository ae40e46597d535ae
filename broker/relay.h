/*
 * A relay: one connection's bytes between the agent's socket and the endpoint's.
 *
 * Each direction owns at most one 64 KiB block, and only while it holds bytes; it reads again when
 * these are gone, so a slow reader slows its writer and nothing else. An end of file travels
 * behind the bytes before it, one direction at a time. What the pin has not approved is held.
 */
#ifndef BROKER_RELAY_H
#define BROKER_RELAY_H
#include "broker/loop.h"
#include "broker/parse/pin.h"

enum { BLOCK_BYTES = 64 * 1024 };

/* Blocks that nobody holds; a few are kept for the next reader. */
struct block_pool {
	struct block *free;
	unsigned count;
};

struct flow {
	struct block *block; /* NULL: nothing held */
	size_t start, end;   /* the bytes held */
	size_t approved;     /* of them, from `start` on */
	uint64_t moved;      /* bytes passed on so far */
	bool ended;          /* the reader saw the end */
	bool shut;           /* and the writer was told, or is gone */
};

struct side {
	struct watch watch; /* fd -1: not connected yet */
	bool readable, writable;
	bool hung; /* an end or an error waits behind the bytes that are left to read */
};

struct relay {
	struct side agent, upstream;
	struct flow up, down;
	struct pin pin;
	struct loop *loop;
	struct block_pool *pool;
	uint64_t *budget; /* bytes that may still leave, shared by all relays */
	enum refusal refused;
	const char *ending; /* what the end would be called now: eof, agent, reset */
	const char *closed; /* what it was called, once it is over */
};

/* Watches `agent_fd` and takes it. The caller has set loop, pool, budget and the sides' wake, and
 * sets up the pin before the first byte. */
int relay_init(struct relay *r, int agent_fd) MUST_CHECK;
/* The same for the endpoint's socket. */
int relay_connect(struct relay *r, int upstream_fd) MUST_CHECK;
/* Closes both sockets, after a refusal with what the peers sent read away, so that they see an end
 * and not a reset; gives the blocks back. */
void relay_done(struct relay *r);
/* Notes what epoll says of one side. */
void relay_see(struct relay *r, struct side *side, uint32_t events);
/* Moves what can be moved, within a bound. True when there is more to do at once. Once it is over,
 * `closed` is set. */
bool relay_pump(struct relay *r);
void relay_refuse(struct relay *r, enum refusal why);
#endif
