/*
 * Eviction from a conversation: the oldest tool results give way first, in batches, so that the
 * cached prefix is not rebuilt every turn.
 */
#ifndef AGENT_EVICT_H
#define AGENT_EVICT_H
#include "provider/wire.h"

/* Tokens the conversation will take, estimated at 3.5 bytes each. */
int64_t evict_estimate(const struct wire_talk *talk);
/* Replaces the texts of the oldest tool results, never those of the newest results turn, by a stub
 * naming the call, until at least `free_tokens` are gained. Returns the tokens gained. */
int64_t evict_results(struct wire_talk *talk, int64_t free_tokens);
/* The same of the newest turn alone, whose results the model has not seen yet: none of them fits.
 */
int64_t evict_newest(struct wire_talk *talk);

/* The turns that may go altogether: from behind the first calls and their results up to the newest
 * calls from which on all that is left fits `keep_tokens`. Empty where there are none. */
struct evict_range {
	size_t from, to;
};
struct evict_range evict_range(const struct wire_talk *talk, int64_t keep_tokens);
/* Removes them; `digest` (taken, heap) becomes the answer to the first calls. */
void evict_turns(struct wire_talk *talk, struct evict_range r, char *digest);
#endif
