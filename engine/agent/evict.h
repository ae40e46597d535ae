/*
 * Eviction: drops parts of a conversation. The oldest tool results go first, in batches, so that
 * the cached prefix does not change with every turn.
 */
#ifndef AGENT_EVICT_H
#define AGENT_EVICT_H
#include "provider/wire.h"

/* Estimates the conversation's tokens, at 3.5 bytes each. */
int64_t evict_estimate(const struct wire_talk *talk);
/* Replaces the texts of the oldest tool results by a stub that names the call, until at least
 * `free_tokens` are gained. The newest turn of results stays. Returns the tokens gained. */
int64_t evict_results(struct wire_talk *talk, int64_t free_tokens);
/* Does the same to the newest turn only. The model has not seen its results, but none of them
 * fits. */
int64_t evict_newest(struct wire_talk *talk);

/* The turns that may be dropped: from after the first calls and their results up to the newest
 * calls such that the rest fits `keep_tokens`. Empty if there are none. */
struct evict_range {
	size_t from, to;
};
struct evict_range evict_range(const struct wire_talk *talk, int64_t keep_tokens);
/* Removes them. `digest` (taken, heap) becomes the answer to the first calls. */
void evict_turns(struct wire_talk *talk, struct evict_range r, char *digest);
#endif
