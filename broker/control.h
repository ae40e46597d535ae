/*
 * The control descriptor: one JSON line of facts per closed connection, never payload. Where the
 * kernel lacks a part of the broker's own confinement, {"notice": TEXT} goes before them.
 */
#ifndef BROKER_CONTROL_H
#define BROKER_CONTROL_H
#include "base/buf.h"
#include "broker/loop.h"
#include "broker/parse/refusal.h"
#include <stdbool.h>

struct control {
	struct watch watch; /* fd -1: nobody wants facts */
	struct buf pending; /* what the reader has not taken */
	bool lost;          /* the reader is gone, or too far behind: to be treated as fatal */
};

struct fact {
	unsigned channel;
	const char *endpoint;
	const char *address; /* empty: never connected */
	uint64_t up_bytes, down_bytes;
	int64_t wall_ms;
	const char *closed;
	enum refusal refused;
};

/* The reader may be slow without stalling anything. `fd` -1 is allowed. */
int control_open(struct control *c, int fd, struct err *e) MUST_CHECK;
void control_say(struct control *c, const struct fact *fact);
void control_notice(struct control *c, const char *text);
/* Writes what can be written now; called when the descriptor is writable. */
void control_flush(struct control *c);
/* More than the reader should be behind: no new connection until it has caught up. */
bool control_is_behind(const struct control *c);
#endif
