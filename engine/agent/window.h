/*
 * The context window: how long a conversation is, as far as that is known, and what of it gives way
 * (evict.h, digest.h, summary.h) so that the model can take it.
 */
#ifndef AGENT_WINDOW_H
#define AGENT_WINDOW_H
#include "agent/digest.h"
#include "agent/summary.h"

struct window {
	struct wire_talk *talk;      /* borrowed, as is all the caller sets */
	const struct digest *digest; /* of what was done in turns that go */
	struct summary *summary;
	int64_t context_tokens;
	/* The rest is zero at first. */
	int64_t sent;  /* tokens of the last request, as they were estimated */
	int64_t scale; /* thousandths of an estimate that the provider counts; 0: not known yet */
	bool warned;   /* of a provider that counts too little */
};

/* A request goes out as the conversation is now. */
void window_sent(struct window *window);
/* It was answered, and `counted` for that many tokens; 0: nobody knows. */
void window_answered(struct window *window, int64_t counted);
/* Drops what is old where the conversation nears its limit. True: that may have cost a call. */
bool window_keep(struct window *window);
/* Drops more, because the provider found it too long. False: there is nothing left to drop. */
bool window_refused(struct window *window);
#endif
