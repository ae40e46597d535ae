/*
 * Summaries of dropped turns, written by the reviewer's model if the operator wants that
 * (agent.summarise: model). The text that it gets and the text that it writes are data.
 */
#ifndef AGENT_TURN_SUMMARY_H
#define AGENT_TURN_SUMMARY_H
#include "agent/evict.h"
#include "agent/metered_client.h"

struct turn_summary {
	const struct agent_task *task; /* NULL: no summaries are written */
	struct metered_client reviewer;
	char *newest; /* the last summary; NULL: none yet */
};

/* Opens summary->reviewer with metered_client_open. Does nothing if the task names no reviewer. */
int turn_summary_open(struct turn_summary *summary, const struct agent_task *task, int channel_fd,
	int64_t deadline_ms, struct err *e);
void turn_summary_close(struct turn_summary *summary);
/* Has a summary written of `range` and of earlier summaries. Returns the newest one, at most an
 * eighth of the context, valid until the next call. If none could be written, a notice says why and
 * an older one is returned. NULL: there is none. */
const char *turn_summary_write(
	struct turn_summary *summary, const struct wire_talk *talk, struct evict_range range);
#endif
