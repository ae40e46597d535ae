/*
 * Budgets of a run: the machine's own limits and the operator's, against what the journal says was
 * spent. Pure.
 */
#ifndef INSTANCE_BUDGET_H
#define INSTANCE_BUDGET_H
#include "config/config.h"
#include "instance/position.h"

/* Says why the next state may not begin: more was spent than a budget allows. False: it may, also
 * where all of a budget is spent. `config` NULL: the machine's own budget alone. */
bool budget_exhausted(
	const struct position *position, const struct config *config, char *reason, size_t bytes);
/* Micro-USD; -1: no limit. */
int64_t budget_microusd(struct opt_float usd);
#endif
