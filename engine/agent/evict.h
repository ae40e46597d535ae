/*
 * Room in the context window: the oldest tool results give way first, in batches, so that the
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
#endif
