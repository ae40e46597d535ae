#include "run/plan_kinds.h"

#include "base/clock.h"
#include "base/num.h"
#include "machine/template.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SECOND_US = 1000000 };
static const int64_t WAIT_SECS_MAX = 100LL * 366 * 86400; /* beyond any run; keeps sums in range */

static int every_secs(const struct position *p, int64_t *out, struct err *e)
{
	const struct wait_state *w = &p->state->wait;
	if (w->every_secs.present) {
		*out = w->every_secs.value;
		return 0;
	}
	json_auto_t *value = template_value(w->every_ref, p->blackboard, NULL, e);
	if (!value)
		return err_wrap(e, "state %s, every_secs", p->state->name);
	if (!json_is_integer(value) || json_integer_value(value) < 1)
		return err_set(e, "state %s: every_secs is %lld, and must be at least 1",
			p->state->name, (long long)json_integer_value(value));
	*out = json_integer_value(value);
	return 0;
}

static int until_us(const struct position *p, int64_t *out, struct err *e)
{
	const struct wait_state *w = &p->state->wait;
	if (w->until_literal) {
		*out = w->until_unix_us;
		return 0;
	}
	json_auto_t *value = template_value(w->until_ref, p->blackboard, NULL, e);
	const char *text = json_string_value(value);
	if (!value)
		return err_wrap(e, "state %s, until", p->state->name);
	if (!text || clock_parse(text, strlen(text), out))
		return err_set(e, "state %s: until is \"%s\", which is not an ISO-8601 instant",
			p->state->name, text ? text : "");
	return 0;
}

int plan_wake(const struct position *p, int64_t now_us, int64_t *wake_us, struct err *e)
{
	const struct wait_state *w = &p->state->wait;
	*wake_us = 0;
	if (!w->timed)
		return 0;
	if (w->until_literal || w->until_ref) {
		int failed = until_us(p, wake_us, e);
		if (!failed && *wake_us < 1)
			*wake_us = 1; /* 0 would mean never */
		return failed;
	}
	int64_t secs = 0;
	if (every_secs(p, &secs, e))
		return -1;
	*wake_us = now_us + (secs < WAIT_SECS_MAX ? secs : WAIT_SECS_MAX) * SECOND_US;
	return 0;
}

static bool over(int64_t spent, int64_t limit)
{
	return limit >= 0 && spent >= limit;
}

static int64_t microusd(struct opt_float usd)
{
	return usd.present ? num_microusd(usd.value) : -1;
}

bool plan_exhausted(const struct position *p, const struct config *c, char *reason, size_t bytes)
{
	const struct machine *m = p->machine;
	const struct totals *t = &p->totals;
	const int64_t most_microusd = c ? c->budget.max_microusd : -1;
	/* A terminal takes nothing of what is left: only what was crossed ends it there. */
	const bool last = p->state->kind == KIND_TERMINAL;
	if (t->transitions - last >= m->max_transitions)
		return snprintf(reason, bytes, "max_transitions (%lld) is used up before state %s",
			       (long long)m->max_transitions, p->state->name) > 0;
	const struct {
		const char *name;
		int64_t spent, limit;
		double scale;
		bool unknown; /* `spent` is a lower bound, and the limit must hold */
	} limits[] = {
		{"budget.max_usd of the machine", t->microusd, microusd(m->max_usd), 1e6,
			t->unpriced},
		{"budget.best_effort_usd_limit of the machine", t->microusd,
			microusd(m->best_effort_usd), 1e6, false},
		{"budget.max_usd of the configuration", t->microusd, most_microusd, 1e6,
			t->unpriced},
		{"budget.max_input_tokens of the configuration", t->input_tokens,
			c ? c->budget.max_input_tokens : -1, 1, t->unmetered},
		{"budget.max_output_tokens of the configuration", t->output_tokens,
			c ? c->budget.max_output_tokens : -1, 1, t->unmetered},
	};
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		if (limits[i].limit >= 0 && limits[i].unknown && !last)
			return snprintf(reason, bytes,
				       "%s cannot be held before state %s: a provider did not "
				       "report what was used",
				       limits[i].name, p->state->name) > 0;
		if (over(limits[i].spent - last, limits[i].limit))
			return snprintf(reason, bytes,
				       "%s (%.10g) is used up (%.10g) before state %s",
				       limits[i].name, (double)limits[i].limit / limits[i].scale,
				       (double)limits[i].spent / limits[i].scale,
				       p->state->name) > 0;
	}
	return false;
}

int64_t plan_backoff_ms(const struct state *s, int attempt, double jitter)
{
	const struct retry *r = &s->retry;
	/* Nothing times what is too much for a double would be no number. */
	double secs = r->backoff_secs > 0 ? r->backoff_secs * pow(r->factor, attempt - 1) : 0;
	if (secs > r->max_backoff_secs)
		secs = r->max_backoff_secs;
	if (r->jitter)
		secs *= 1 - jitter / 2;
	double most = (double)WAIT_SECS_MAX;
	return (int64_t)((secs < most ? secs : most) * 1000);
}

const struct config_provider *plan_provider(
	const struct config *c, const struct state *s, const char **model)
{
	const struct config_role *worker = &c->models.worker;
	*model = s->agent.model ? s->agent.model : worker->model;
	return config_provider(c, s->agent.provider ? s->agent.provider : worker->provider);
}

const struct config_provider *plan_reviewer(const struct config *c, const char **model)
{
	const struct config_role *reviewer = &c->models.reviewer;
	*model = reviewer->model;
	if (c->agent.summarise != SUMMARISE_MODEL || !reviewer->model)
		return NULL;
	return config_provider(c, reviewer->provider);
}

void step_done(struct step *s)
{
	json_decref(s->fact);
	json_decref(s->policy);
	json_decref(s->confine);
	json_decref(s->request);
	free(s->stdin_text);
	*s = (struct step){0};
}

int plan_step(const struct plan_env *env, const struct position *p, struct step *out, struct err *e)
{
	struct step s = {.state = p->state,
		.seq = p->seq + 1,
		.attempt = p->attempt,
		.execution = p->executions + 1};
	snprintf(s.dir, sizeof(s.dir), "states/%llu-%s", (unsigned long long)s.seq, p->state->name);
	int failed =
		p->state->kind == KIND_TOOL ? plan_tool(env, p, &s, e) : plan_agent(env, p, &s, e);
	if (failed) {
		step_done(&s);
		return -1;
	}
	*out = s;
	return 0;
}
