/*
 * Tokens and money of provider calls, in integers: counts as reported, spend in micro-USD.
 */
#ifndef PROVIDER_USAGE_H
#define PROVIDER_USAGE_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct usage {
	int64_t input;         /* all input tokens, cached ones included */
	int64_t output;        /* thinking included */
	int64_t cache_read;    /* how much of input was read from the cache */
	int64_t cache_write;   /* how much of input was written to it */
	int64_t cost_microusd; /* what the provider itself charged; -1: it did not say */
	bool known;            /* the provider reported usage that can be true */
};

/* Micro-USD per token, which is USD per million tokens. */
struct prices {
	double input, output, cache_read, cache_write;
};

#define USAGE_NONE                                                                                 \
	(struct usage)                                                                             \
	{                                                                                          \
		.cost_microusd = -1                                                                \
	}

/* A count as a gateway may send it: integers within 0..10^12 are taken, whole floats too; anything
 * else (null, negative, boolean, text, absurd) is refused. -1: refused, *out untouched. */
int usage_count(const json_t *value, int64_t *out);
/* Adds the counts of `one` to `sum`. */
void usage_add(struct usage *sum, const struct usage *one);
/* Returns what `usage` costs, rounded up: the provider's own figure when it gave one above 0, else
 * by `prices`; without prices a figure of 0 is taken. -1: neither is there. */
int64_t usage_microusd(const struct usage *usage, const struct prices *prices);
#endif
