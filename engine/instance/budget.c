#include "instance/budget.h"

#include "base/num.h"
#include "machine/kind.h"

#include <stdio.h>

/* Reports whether a limit is exceeded. Spending exactly the limit is allowed: the next agent then
 * has nothing left and ends with that outcome. */
static bool over(int64_t spent, int64_t limit)
{
	return limit >= 0 && spent > limit;
}

int64_t budget_microusd(struct opt_float usd)
{
	return usd.present ? num_microusd(usd.value) : -1;
}

bool budget_exhausted(
	const struct position *position, const struct config *config, char *reason, size_t bytes)
{
	const struct machine *m = position->machine;
	const struct totals *t = &position->totals;
	const int64_t most_microusd = config ? config->budget.max_microusd : -1;
	/* A terminal makes no transition and spends nothing. */
	const bool last = state_is(position->state, TRAIT_ENDS);
	if (t->transitions - last >= m->max_transitions)
		return snprintf(reason, bytes, "max_transitions (%lld) is used up before state %s",
			       (long long)m->max_transitions, position->state->name) > 0;
	const struct {
		const char *name;
		int64_t spent, limit;
		double scale;
		bool unknown; /* `spent` is a lower bound, and the limit must hold */
	} limits[] = {
		{"budget.max_usd of the machine", t->microusd, budget_microusd(m->max_usd), 1e6,
			t->unpriced},
		{"budget.best_effort_usd_limit of the machine", t->microusd,
			budget_microusd(m->best_effort_usd), 1e6, false},
		{"budget.max_usd of the configuration", t->microusd, most_microusd, 1e6,
			t->unpriced},
		{"budget.max_input_tokens of the configuration", t->input_tokens,
			config ? config->budget.max_input_tokens : -1, 1, t->unmetered},
		{"budget.max_output_tokens of the configuration", t->output_tokens,
			config ? config->budget.max_output_tokens : -1, 1, t->unmetered},
	};
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		if (limits[i].limit >= 0 && limits[i].unknown && !last)
			return snprintf(reason, bytes,
				       "%s cannot be held before state %s: a provider did not "
				       "report what was used",
				       limits[i].name, position->state->name) > 0;
		if (over(limits[i].spent, limits[i].limit))
			return snprintf(reason, bytes,
				       "%s (%.10g) is used up (%.10g) before state %s",
				       limits[i].name, (double)limits[i].limit / limits[i].scale,
				       (double)limits[i].spent / limits[i].scale,
				       position->state->name) > 0;
	}
	return false;
}
