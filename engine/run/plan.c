#include "run/plan_kinds.h"

#include "base/clock.h"
#include "base/num.h"
#include "instance/budget.h"
#include "machine/fixed.h"
#include "machine/template.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SECOND_US = 1000000 };
/* Longer than any run; keeps sums in range. */
static const int64_t WAIT_SECS_MAX = 100LL * 366 * 86400;

static int every_secs(const struct position *position, int64_t *out, struct err *e)
{
	const struct wait_state *w = &position->state->wait;
	if (w->every_secs.present) {
		*out = w->every_secs.value;
		return 0;
	}
	json_auto_t *value = template_value(w->every_ref, position->blackboard, NULL, e);
	if (!value)
		return err_wrap(e, "state %s, every_secs", position->state->name);
	if (!json_is_integer(value) || json_integer_value(value) < 1)
		return err_set(e, "state %s: every_secs is %lld, and must be at least 1",
			position->state->name, (long long)json_integer_value(value));
	*out = json_integer_value(value);
	return 0;
}

static int until_us(const struct position *position, int64_t *out, struct err *e)
{
	const struct wait_state *w = &position->state->wait;
	if (w->until_literal) {
		*out = w->until_unix_us;
		return 0;
	}
	json_auto_t *value = template_value(w->until_ref, position->blackboard, NULL, e);
	const char *text = json_string_value(value);
	if (!value)
		return err_wrap(e, "state %s, until", position->state->name);
	if (!text || clock_parse(text, strlen(text), out))
		return err_set(e, "state %s: until is \"%s\", which is not an ISO-8601 instant",
			position->state->name, text ? text : "");
	return 0;
}

int plan_wake(const struct position *position, int64_t now_us, int64_t *wake_us, struct err *e)
{
	const struct wait_state *w = &position->state->wait;
	*wake_us = 0;
	if (!w->timed)
		return 0;
	if (w->until_literal || w->until_ref) {
		int failed = until_us(position, wake_us, e);
		if (!failed && *wake_us < 1)
			*wake_us = 1; /* 0 would mean never */
		return failed;
	}
	int64_t secs = 0;
	if (every_secs(position, &secs, e))
		return -1;
	*wake_us = now_us + (secs < WAIT_SECS_MAX ? secs : WAIT_SECS_MAX) * SECOND_US;
	return 0;
}

int64_t plan_backoff_ms(const struct state *state, int attempt, double jitter)
{
	const struct retry *r = &state->retry;
	/* Zero times infinity would be NaN. */
	double secs = r->backoff_secs > 0 ? r->backoff_secs * pow(r->factor, attempt - 1) : 0;
	if (secs > r->max_backoff_secs)
		secs = r->max_backoff_secs;
	if (r->jitter)
		secs *= 1 - jitter / 2;
	double most = (double)WAIT_SECS_MAX;
	return (int64_t)((secs < most ? secs : most) * 1000);
}

void step_done(struct step *step)
{
	fact_done(&step->fact);
	jail_policy_done(&step->policy);
	jail_order_done(&step->order);
	agent_order_done(&step->agent_order);
	agent_task_done(&step->agent_task);
	free(step->stdin_text);
	*step = (struct step){0};
}

/* NULL: nothing is executed for the kind. */
struct planner {
	int (*plan)(const struct plan_env *env, const struct position *position, struct step *out,
		struct err *e);
};
static const struct planner planner_agent = {plan_agent}, planner_tool = {plan_tool},
			    planner_wait = {NULL}, planner_branch = {NULL},
			    planner_terminal = {NULL};

#define X(NAME, name) [KIND_##NAME] = &planner_##name,
static const struct planner *const planners[KIND_COUNT] = {STATE_KINDS(X)};
#undef X

int plan_step(const struct plan_env *env, const struct position *position, struct step *out,
	struct err *e)
{
	struct step s = {.state = position->state,
		.seq = position->seq + 1,
		.attempt = position->attempt,
		.execution = position->executions + 1,
		.timeout_secs = fixed_timeout_secs(position->state, position->blackboard)};
	snprintf(s.dir, sizeof(s.dir), "states/%llu-%s", (unsigned long long)s.seq,
		position->state->name);
	if (planners[position->state->kind]->plan(env, position, &s, e)) {
		step_done(&s);
		return -1;
	}
	*out = s;
	return 0;
}

void plan_shorten(struct step *step, const struct position *position, int64_t now_us)
{
	const int64_t deadline_us = budget_deadline_us(position);
	int64_t left = (deadline_us - now_us) / SECOND_US + 1;
	if (!deadline_us || left >= step->timeout_secs)
		return;
	step->timeout_secs = left < 1 ? 1 : left;
	step->order.timeout_secs = step->timeout_secs;
}
