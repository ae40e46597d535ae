/*
 * The totals of a run: its transitions, and the spending of all its executions.
 */
#ifndef CONTRACT_TOTALS_H
#define CONTRACT_TOTALS_H
#include "contract/spend.h"

struct totals {
	int64_t transitions, input_tokens, output_tokens, cached_tokens, microusd;
	bool unpriced;  /* some spend had no price: microusd is a lower bound */
	bool unmetered; /* some spend was not reported: it is estimated */
};

/* Adds an execution's spending; does not count a transition. */
void totals_add(struct totals *totals, const struct spend *spend);
/* Reports whether the two are written alike. */
bool totals_equal(const struct totals *totals, const struct totals *other);

/* Returns the object in journal lines, snapshots and the status. New reference. */
json_t *totals_encode(const struct totals *totals);
/* Returns -1 if `data` is not as totals_encode writes it. */
int totals_decode(const json_t *data, struct totals *out);
#endif
