#include "instance/budget.h"

#include "base/num.h"
#include "machine/fixed.h"
#include "machine/kind.h"

#include <stdio.h>
#include <string.h>

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

/* The limits that a run may use up: of the machine, which replay knows, or of the operator. A
 * reason begins with the name, and is recorded so. */
#define LIMITS(X)                                                                                  \
	X(TRANSITIONS, "max_transitions", true)                                                    \
	X(SECS, "budget.max_secs", true)                                                           \
	X(USD, "budget.max_usd of the machine", true)                                              \
	X(BEST_EFFORT_USD, "budget.best_effort_usd_limit of the machine", true)                    \
	X(OPERATOR_USD, "budget.max_usd of the configuration", false)                              \
	X(OPERATOR_INPUT, "budget.max_input_tokens of the configuration", false)                   \
	X(OPERATOR_OUTPUT, "budget.max_output_tokens of the configuration", false)

#define X(NAME, name, machine) LIMIT_##NAME,
enum { LIMITS(X) };
#undef X
#define X(NAME, name, machine) {name, machine},
static const struct {
	const char *name;
	bool machine;
} names[] = {LIMITS(X)};
#undef X

bool budget_is_machine(const char *reason)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i].name);
		if (!strncmp(reason, names[i].name, len) && reason[len] == ' ')
			return names[i].machine;
	}
	return false;
}

int64_t budget_deadline_us(const struct position *position)
{
	const int64_t secs = position->machine->max_secs;
	return secs && position->begun ? num_add(position->started_us, secs * 1000000) : 0;
}

bool budget_out_of_time(const struct position *position, int64_t now_us, const char *where,
	char *reason, size_t bytes)
{
	const int64_t deadline_us = budget_deadline_us(position);
	return deadline_us && now_us >= deadline_us &&
	       snprintf(reason, bytes, "%s (%lld) is used up %s state %s", names[LIMIT_SECS].name,
		       (long long)position->machine->max_secs, where, position->state->name) > 0;
}

bool budget_exhausted(const struct position *position, const struct config *config, int64_t now_us,
	char *reason, size_t bytes)
{
	const struct machine *m = position->machine;
	const struct totals *t = &position->totals;
	const int64_t most_microusd = config ? config->budget.max_microusd : -1;
	/* A terminal makes no transition and spends nothing. */
	const bool last = state_is(position->state, TRAIT_ENDS);
	if (t->transitions - last >= m->max_transitions)
		return snprintf(reason, bytes, "%s (%lld) is used up before state %s",
			       names[LIMIT_TRANSITIONS].name, (long long)m->max_transitions,
			       position->state->name) > 0;
	if (!last && budget_out_of_time(position, now_us, "before", reason, bytes))
		return true;
	const struct {
		int64_t spent, limit;
		double scale;
		bool unknown; /* `spent` is a lower bound, and the limit must hold */
	} limits[] = {
		[LIMIT_USD] = {t->microusd,
			budget_microusd(fixed_budget_usd(m, position->blackboard)), 1e6,
			t->unpriced},
		[LIMIT_BEST_EFFORT_USD] = {t->microusd, budget_microusd(m->best_effort_usd), 1e6,
			false},
		[LIMIT_OPERATOR_USD] = {t->microusd, most_microusd, 1e6, t->unpriced},
		[LIMIT_OPERATOR_INPUT] = {t->input_tokens,
			config ? config->budget.max_input_tokens : -1, 1, t->unmetered},
		[LIMIT_OPERATOR_OUTPUT] = {t->output_tokens,
			config ? config->budget.max_output_tokens : -1, 1, t->unmetered},
	};
	for (size_t i = LIMIT_USD; i < ARRAY_LEN(limits); i++) {
		if (limits[i].limit >= 0 && limits[i].unknown && !last)
			return snprintf(reason, bytes,
				       "%s cannot be held before state %s: a provider did not "
				       "report what was used",
				       names[i].name, position->state->name) > 0;
		if (over(limits[i].spent, limits[i].limit))
			return snprintf(reason, bytes,
				       "%s (%.10g) is used up (%.10g) before state %s",
				       names[i].name, (double)limits[i].limit / limits[i].scale,
				       (double)limits[i].spent / limits[i].scale,
				       position->state->name) > 0;
	}
	return false;
}
