/*
 * Tokens and money of provider calls, in integers: counts as reported, spend in micro-USD.
 */
#ifndef PROVIDER_USAGE_H
#define PROVIDER_USAGE_H
#include "contract/prices.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct usage {
	int64_t input;         /* all input tokens, cached ones included */
	int64_t output;        /* thinking included */
	int64_t cache_read;    /* the part of input read from the cache */
	int64_t cache_write;   /* the part of input written to the cache */
	int64_t cost_microusd; /* the provider's own charge; -1: not stated */
	bool known;            /* the provider reported possible values */
};

#define USAGE_NONE                                                                                 \
	(struct usage)                                                                             \
	{                                                                                          \
		.cost_microusd = -1                                                                \
	}

/* Reads a count from a gateway: accepts integers within 0..10^12 and whole floats; refuses anything
 * else (null, negative, boolean, text, absurd). -1: refused, *out unchanged. */
int usage_count(const json_t *value, int64_t *out);
/* Adds the counts of `one` to `sum`. */
void usage_add(struct usage *sum, const struct usage *one);
/* Returns the cost of `usage`, rounded up: the provider's own figure if it is above 0, else by
 * `prices`; without prices a figure of 0 is accepted. -1: there is neither. */
int64_t usage_microusd(const struct usage *usage, const struct prices *prices);
#endif
