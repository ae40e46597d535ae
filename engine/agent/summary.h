/*
 * A summary of turns that give way, written by the reviewer's model where the operator wants one
 * (agent.summarise: model). What it is given and what it writes are data.
 */
#ifndef AGENT_SUMMARY_H
#define AGENT_SUMMARY_H
#include "agent/endpoint.h"
#include "agent/evict.h"

struct summary {
	const struct task *task; /* NULL: nobody writes one */
	struct endpoint reviewer;
	char *newest; /* what was written last; NULL: nothing was yet */
};

/* As endpoint_open, of summary->reviewer. Does nothing where the task names no reviewer. */
int summary_open(struct summary *summary, const struct task *task, int channel_fd,
	int64_t deadline_ms, struct err *e);
void summary_close(struct summary *summary);
/* Has one written of `range` and of what was summarised before. Returns the newest there is, at
 * most an eighth of the context, valid until the next call: where none could be written, and a
 * notice has said why, that is an older one. NULL: there is none. */
const char *summary_write(
	struct summary *summary, const struct wire_talk *talk, struct evict_range range);
#endif
