/*
 * The cost of calls to a model: tokens, and micro-dollars where the model has a price.
 */
#ifndef CONTRACT_SPEND_H
#define CONTRACT_SPEND_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct spend {
	int64_t input_tokens, output_tokens, cached_tokens, microusd;
	bool unpriced;  /* the model has no price, so microusd is not known */
	bool unmetered; /* a reply did not report its usage, so the counts are estimates */
};

/* Reads the members of a fact or of a `spend` line. Refuses an amount that is negative or no
 * number. */
int spend_decode(const json_t *from, struct spend *out, struct err *e);
/* Returns the members in the form that spend_decode reads. */
json_t *spend_encode(const struct spend *spend);
#endif
