/*
 * The control descriptor: one JSON line of facts per closed connection, never payload. Where the
 * kernel lacks a part of the broker's own confinement, {"notice": TEXT} goes before them.
 */
#ifndef BROKER_CONTROL_H
#define BROKER_CONTROL_H
#include "base/json.h"
#include "broker/loop.h"

struct control {
	struct watch watch; /* fd -1: nobody wants facts */
	struct buf pending; /* what the reader has not taken */
	bool lost;          /* the reader is gone, or too far behind: to be treated as fatal */
};

/* The reader may be slow without stalling anything. `fd` -1 is allowed. */
int control_open(struct control *c, struct loop *l, int fd, struct err *e) MUST_CHECK;
/* Takes `line`; NULL: out of memory. */
void control_say(struct control *c, json_t *line);
#endif
