/*
 * Budgets of a run: compares the machine's and the operator's limits with the spending in the
 * journal. Pure.
 */
#ifndef INSTANCE_BUDGET_H
#define INSTANCE_BUDGET_H
#include "config/config.h"
#include "instance/position.h"

/* Reports whether the next state may not begin, because more was spent than a budget allows, and
 * says why. Returns false also if a budget is used up exactly. `config` NULL: only the machine's
 * own budget counts. */
bool budget_exhausted(
	const struct position *position, const struct config *config, char *reason, size_t bytes);
/* Reports whether such a reason names a limit of the machine itself. */
bool budget_is_machine(const char *reason);
/* Returns micro-USD; -1: no limit. */
int64_t budget_microusd(struct opt_float usd);
#endif
