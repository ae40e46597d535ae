/*
 * Summaries of dropped turns, written by the reviewer's model if the operator wants that
 * (agent.summarise: model). The text that it gets and the text that it writes are data.
 */
#ifndef AGENT_SUMMARY_H
#define AGENT_SUMMARY_H
#include "agent/endpoint.h"
#include "agent/evict.h"

struct summary {
	const struct task *task; /* NULL: no summaries are written */
	struct endpoint reviewer;
	char *newest; /* the last summary; NULL: none yet */
};

/* Opens summary->reviewer with endpoint_open. Does nothing if the task names no reviewer. */
int summary_open(struct summary *summary, const struct task *task, int channel_fd,
	int64_t deadline_ms, struct err *e);
void summary_close(struct summary *summary);
/* Has a summary written of `range` and of earlier summaries. Returns the newest one, at most an
 * eighth of the context, valid until the next call. If none could be written, a notice says why and
 * an older one is returned. NULL: there is none. */
const char *summary_write(
	struct summary *summary, const struct wire_talk *talk, struct evict_range range);
#endif
