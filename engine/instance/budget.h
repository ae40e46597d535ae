/*
 * Budgets of a run: compares the machine's and the operator's limits with the spending in the
 * journal. Pure.
 */
#ifndef INSTANCE_BUDGET_H
#define INSTANCE_BUDGET_H
#include "config/config.h"
#include "instance/position.h"

/* Reports whether the next state may not begin at `now_us`, because more was spent than a budget
 * allows, and says why. Returns false also if a budget is used up exactly, but for time. `config`
 * NULL: only the machine's own budget counts. */
bool budget_exhausted(const struct position *position, const struct config *config, int64_t now_us,
	char *reason, size_t bytes);
/* Returns when the time of the run is used up, parked time included; 0: never. */
int64_t budget_deadline_us(const struct position *position);
/* Reports whether the time is used up, and says so of the active state; `where`: "before" or
 * "in". */
bool budget_out_of_time(const struct position *position, int64_t now_us, const char *where,
	char *reason, size_t bytes);
/* Reports whether such a reason names a limit of the machine itself. */
bool budget_is_machine(const char *reason);
/* Returns micro-USD; -1: no limit. */
int64_t budget_microusd(struct opt_float usd);
#endif
