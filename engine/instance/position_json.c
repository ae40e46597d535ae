#include "base/utf8.h"
#include "instance/position.h"
#include "machine/fixed.h"

#include <string.h>

json_t *position_encode(const struct position *position)
{
	return json_pack("{s:s,s:O,s:I,s:i,s:i,s:I,s:o,s:b,s:b,s:b,s:I,s:O?,s:s,s:s,s:s,s:I,s:I,"
			 "s:b,s:b,s:i,s:s,s:{s:I,s:I,s:I},s:O?,s:O*,s:O*,s:o*,s:O*,s:s*}",
		"state", position->state->name, "blackboard", position->blackboard, "seq",
		(json_int_t)position->seq, "attempt", position->attempt, "executions",
		position->executions, "retry_at_us", (json_int_t)position->retry_at_us, "totals",
		totals_encode(&position->totals), "begun", position->begun, "notified",
		position->notified, "armed", position->armed, "wake_us",
		(json_int_t)position->wake_us, "poke", position->poke, "poke_name",
		position->poke_name, "digest", position->digest, "profile", position->profile,
		"started_us", (json_int_t)position->started_us, "updated_us",
		(json_int_t)position->updated_us, "ended", position->ended, "ended_ok",
		position->ended_ok, "cause", (int)position->cause, "reason", position->reason,
		"step", "input_tokens", (json_int_t)position->step.input_tokens, "output_tokens",
		(json_int_t)position->step.output_tokens, "microusd",
		(json_int_t)position->step.microusd, "failure", position->failure, "autorun",
		position->autorun, "visits", position->visits, "format",
		position->format > JOURNAL_FORMAT_FIRST ? json_integer(position->format) : NULL,
		"returns", position->returns, "refused_poke",
		*position->refused_poke ? position->refused_poke : NULL);
}

static int failure_check(json_t *data)
{
	const char *state, *label, *words;
	json_int_t seq;
	json_t *code, *signal;
	int attempt;
	if (!data || json_is_null(data))
		return 0;
	return json_unpack_ex(data, NULL, JSON_STRICT, "{s:s,s:I,s:i,s:s,s:s,s:o,s:o}", "state",
		&state, "seq", &seq, "attempt", &attempt, "label", &label, "words", &words, "exit",
		&code, "signal", &signal);
}

/* Refuses the blackboard of another machine, or one that was changed by hand. */
static int blackboard_conforms(const struct machine *machine, const json_t *blackboard)
{
	AUTO_BUF problems = BUF_INIT(32 * 1024);
	if (json_object_size(blackboard) != machine->variable_count)
		return -1;
	for (size_t i = 0; i < machine->variable_count; i++) {
		const struct variable *v = &machine->variables[i];
		const json_t *value = json_object_get(blackboard, v->name);
		struct demand demand = {v->type, &v->constraint, VALUE_PARTIAL};
		if (!value || demand_check(&demand, value, v->name, &problems) ||
			fixed_check(machine, v, value, NULL))
			return -1;
	}
	return 0;
}

static int visits_check(const struct machine *machine, const json_t *visits)
{
	const char *name;
	json_t *count;
	json_object_foreach ((json_t *)(uintptr_t)visits, name, count) {
		const struct state *state = machine_state(machine, name);
		if (!state || !state->max_visits || json_integer_value(count) < 1)
			return -1;
	}
	return visits && !json_is_object(visits) ? -1 : 0;
}

int position_decode(
	const struct machine *machine, const json_t *data, struct position *out, struct err *e)
{
	struct position p = {.machine = machine, .format = JOURNAL_FORMAT_FIRST};
	const char *state, *poke_name, *digest, *profile, *reason, *refused_poke = "";
	json_t *blackboard, *totals, *poke, *failure = NULL, *autorun = NULL, *visits = NULL,
					    *returns = NULL;
	json_int_t seq, retry_at, wake, started, updated, input, output, microusd;
	int begun, notified, armed, ended, ended_ok, cause;
	if (json_unpack_ex((json_t *)(uintptr_t)data, NULL, JSON_STRICT,
		    "{s:s,s:o,s:I,s:i,s:i,s:I,s:o,s:b,s:b,s:b,s:I,s:o,s:s,s:s,s:s,s:I,s:I,"
		    "s:b,s:b,s:i,s:s,s:{s:I,s:I,s:I},s?o,s?o,s?o,s?i,s?o,s?s}",
		    "state", &state, "blackboard", &blackboard, "seq", &seq, "attempt", &p.attempt,
		    "executions", &p.executions, "retry_at_us", &retry_at, "totals", &totals,
		    "begun", &begun, "notified", &notified, "armed", &armed, "wake_us", &wake,
		    "poke", &poke, "poke_name", &poke_name, "digest", &digest, "profile", &profile,
		    "started_us", &started, "updated_us", &updated, "ended", &ended, "ended_ok",
		    &ended_ok, "cause", &cause, "reason", &reason, "step", "input_tokens", &input,
		    "output_tokens", &output, "microusd", &microusd, "failure", &failure, "autorun",
		    &autorun, "visits", &visits, "format", &p.format, "returns", &returns,
		    "refused_poke", &refused_poke) ||
		totals_decode(totals, &p.totals) || failure_check(failure) ||
		(returns && !json_is_object(returns)) ||
		(autorun && !json_is_array(json_object_get(autorun, "files"))))
		return err_set(e, "it does not have the shape of a snapshot");
	p.state = machine_state(machine, state);
	if (!p.state || seq < 0 || p.format < JOURNAL_FORMAT_FIRST ||
		p.format > JOURNAL_FORMAT_LAST || p.attempt < 1 || cause < 0 ||
		cause >= END_CAUSE_COUNT || blackboard_conforms(machine, blackboard) ||
		visits_check(machine, visits))
		return err_set(e, "it does not fit the machine");
	p.seq = (uint64_t)seq;
	p.retry_at_us = retry_at;
	p.wake_us = wake;
	p.started_us = started;
	p.updated_us = updated;
	p.step = (struct spend){
		.input_tokens = input, .output_tokens = output, .microusd = microusd};
	p.begun = begun;
	p.notified = notified;
	p.armed = armed;
	p.ended = ended;
	p.ended_ok = ended_ok;
	p.cause = (enum end_cause)cause;
	utf8_copy(p.reason, sizeof(p.reason), reason);
	snprintf(p.poke_name, sizeof(p.poke_name), "%s", poke_name);
	snprintf(p.refused_poke, sizeof(p.refused_poke), "%s", refused_poke);
	snprintf(p.digest, sizeof(p.digest), "%s", digest);
	snprintf(p.profile, sizeof(p.profile), "%s", profile);
	p.blackboard = json_copy(blackboard);
	p.poke = json_is_null(poke) ? NULL : json_incref(poke);
	p.failure = json_is_null(failure) ? NULL : json_incref(failure);
	p.visits = json_incref(visits);
	p.autorun = json_incref(autorun);
	p.returns = json_incref(returns);
	*out = p;
	return 0;
}
