/*
 * The reader of an agent's event pipe: JSON lines, untrusted, decoded one at a time.
 *
 * Lines are capped, decoded strictly and reduced to the few values the supervisor keeps; a line
 * that does not belong to the protocol ends the conversation.
 */
#ifndef RUN_AGENT_EVENTS_H
#define RUN_AGENT_EVENTS_H
#include "base/buf.h"
#include "contract/event.h"
#include "instance/position.h"

enum { AGENT_LINE_MAX = 4 * 1024 * 1024 };

struct agent_events {
	struct buf line;
	bool confined, ended, garbled;
	struct spend spend; /* cumulative; never goes down */
	struct spend most;  /* `spend` plus the highest possible cost of a call that is under way */
	int64_t turns;
	struct fact result; /* its outcome, reason and payload; FACT_NONE until the last line */
	json_t *egress;     /* by endpoint: {connections, up, down, refusals} */
	char fault[256];    /* why, when `garbled` */
	/* Called after each line that was understood; EVENT_COUNT: its word is none of ours. */
	void (*each)(void *ctx, enum agent_event event, const json_t *line);
	void *ctx;
};

void agent_events_init(struct agent_events *events);
void agent_events_done(struct agent_events *events);
/* Takes bytes: the taker of a pump's stream. `ctx` is the agent_events. */
void agent_events_take(void *ctx, const char *bytes, size_t len);
/* Returns the fact's outcome, reason and payload, however the agent ended. `late`: it was killed
 * because its time was over. */
void agent_events_fact(const struct agent_events *events, bool late, struct fact *out);
#endif
