/*
 * The context window: tracks how long a conversation is, and drops parts of it (evict.h, digest.h,
 * summary.h) so that the model can take it.
 */
#ifndef AGENT_WINDOW_H
#define AGENT_WINDOW_H
#include "agent/digest.h"
#include "agent/turn_summary.h"

struct window {
	struct wire_talk *talk;      /* borrowed, as is everything that the caller sets */
	const struct digest *digest; /* describes the dropped turns */
	struct turn_summary *summary;
	int64_t context_tokens;
	/* Zero at first. */
	int64_t sent;  /* estimated tokens of the last request */
	int64_t scale; /* thousandths of the estimate that the provider counts; 0: unknown */
	bool warned;   /* a warning was given that the provider counts too few tokens */
};

/* Notes that a request goes out with the conversation as it is. */
void window_sent(struct window *window);
/* Notes an answer, and the `counted` tokens of the request; 0: unknown. */
void window_answered(struct window *window, int64_t counted);
/* Drops old parts if the conversation nears its limit. Returns true if this may have cost a
 * call. */
bool window_keep(struct window *window);
/* Drops more, because the provider refused the length. Returns false if nothing is left to drop. */
bool window_refused(struct window *window);
#endif
