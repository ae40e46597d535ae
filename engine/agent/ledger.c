#include "agent/ledger.h"

#include "agent/emit.h"

void ledger_init(struct ledger *ledger, const struct agent_limits *limits)
{
	*ledger = (struct ledger){.limits = limits};
}

void ledger_add(struct ledger *ledger, const struct usage *usage, const struct prices *prices)
{
	int64_t cost = usage_microusd(usage, prices);
	usage_add(&ledger->total, usage);
	ledger->unmetered = ledger->unmetered || !usage->known;
	ledger->measured_microusd += cost > 0 ? cost : 0;
	ledger->microusd = ledger->microusd < 0 || cost < 0 ? -1 : ledger->microusd + cost;
}

bool ledger_is_hard(const struct ledger *ledger)
{
	const struct agent_limits *m = ledger->limits;
	return m->max_microusd >= 0 || m->max_input_tokens >= 0 || m->max_output_tokens >= 0;
}

static bool reached(int64_t limit, int64_t used)
{
	return limit >= 0 && used >= limit;
}

const char *ledger_reached(const struct ledger *ledger)
{
	const struct agent_limits *m = ledger->limits;
	if (reached(m->max_input_tokens, ledger->total.input))
		return "max_input_tokens is used up";
	if (reached(m->max_output_tokens, ledger->total.output))
		return "max_output_tokens is used up";
	if (reached(m->max_microusd, ledger->microusd))
		return "max_usd is used up";
	if (ledger->measured_microusd > 0 &&
		reached(m->best_effort_microusd, ledger->measured_microusd))
		return "best_effort_usd_limit is used up";
	return NULL;
}

int64_t ledger_percent(const struct ledger *ledger)
{
	const struct agent_limits *m = ledger->limits;
	const int64_t used[][2] = {{ledger->total.input, m->max_input_tokens},
		{ledger->total.output, m->max_output_tokens}, {ledger->microusd, m->max_microusd},
		{ledger->measured_microusd, m->best_effort_microusd}};
	int64_t most = 0;
	for (size_t i = 0; i < ARRAY_LEN(used); i++) {
		bool counts = used[i][1] > 0 && used[i][0] > 0;
		double share = counts ? (double)used[i][0] / (double)used[i][1] : 0;
		int64_t percent = (int64_t)(share < 1 ? share * 100 : 100);
		most = percent > most ? percent : most;
	}
	return most;
}

int64_t ledger_output_cap(const struct ledger *ledger, const struct prices *prices, int64_t wanted)
{
	const struct agent_limits *m = ledger->limits;
	int64_t cap = wanted;
	if (m->max_output_tokens >= 0 && m->max_output_tokens - ledger->total.output < cap)
		cap = m->max_output_tokens - ledger->total.output;
	if (m->max_microusd >= 0 && prices && prices->output > 0) {
		double left = (double)(m->max_microusd - ledger->microusd) / prices->output;
		if (left < (double)cap)
			cap = (int64_t)left;
	}
	return cap < 1 ? 1 : cap;
}

json_t *ledger_json(const struct ledger *ledger)
{
	json_t *spent = json_pack("{s:I, s:I, s:I, s:o}", "input_tokens",
		(json_int_t)ledger->total.input, "output_tokens", (json_int_t)ledger->total.output,
		"cached_tokens", (json_int_t)ledger->total.cache_read, "microusd",
		ledger->microusd < 0 ? json_null() : json_integer(ledger->microusd));
	if (ledger->unmetered)
		json_object_set_new(spent, "unmetered", json_true());
	return spent;
}

void ledger_open(const struct ledger *ledger, const struct usage *told, const struct usage *most,
	const struct prices *prices)
{
	struct ledger now = *ledger, then = *ledger;
	ledger_add(&now, told, prices);
	ledger_add(&then, most, prices);
	json_t *event = ledger_json(&now);
	json_object_set_new(event, "most", ledger_json(&then));
	emit(EVENT_SPENT, event);
}
