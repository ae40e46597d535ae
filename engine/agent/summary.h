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
};

/* As endpoint_open, of s->reviewer. Does nothing where the task names no reviewer. */
int summary_open(struct summary *s, const struct task *task, int channel_fd, int64_t deadline_ms,
	struct err *e);
void summary_close(struct summary *s);
/* The text, heap, at most an eighth of the context; NULL: there is none, and where one was wanted a
 * notice has said why. */
char *summary_write(struct summary *s, const struct wire_talk *talk, struct evict_range range);
#endif
