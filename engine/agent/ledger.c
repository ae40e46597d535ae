#include "agent/ledger.h"

#include "agent/emit.h"

void ledger_init(struct ledger *l, const struct limits *limits)
{
	*l = (struct ledger){.limits = limits};
}

void ledger_add(struct ledger *l, const struct usage *u, const struct prices *prices)
{
	int64_t cost = usage_microusd(u, prices);
	usage_add(&l->total, u);
	l->unmetered = l->unmetered || !u->known;
	l->measured_microusd += cost > 0 ? cost : 0;
	l->microusd = l->microusd < 0 || cost < 0 ? -1 : l->microusd + cost;
}

bool ledger_is_hard(const struct ledger *l)
{
	const struct limits *m = l->limits;
	return m->max_microusd >= 0 || m->max_input_tokens >= 0 || m->max_output_tokens >= 0;
}

static bool reached(int64_t limit, int64_t used)
{
	return limit >= 0 && used >= limit;
}

const char *ledger_reached(const struct ledger *l)
{
	const struct limits *m = l->limits;
	if (reached(m->max_input_tokens, l->total.input))
		return "max_input_tokens is used up";
	if (reached(m->max_output_tokens, l->total.output))
		return "max_output_tokens is used up";
	if (reached(m->max_microusd, l->microusd))
		return "max_usd is used up";
	if (l->measured_microusd > 0 && reached(m->best_effort_microusd, l->measured_microusd))
		return "best_effort_usd_limit is used up";
	return NULL;
}

int64_t ledger_percent(const struct ledger *l)
{
	const struct limits *m = l->limits;
	const int64_t used[][2] = {{l->total.input, m->max_input_tokens},
		{l->total.output, m->max_output_tokens}, {l->microusd, m->max_microusd},
		{l->measured_microusd, m->best_effort_microusd}};
	int64_t most = 0;
	for (size_t i = 0; i < ARRAY_LEN(used); i++) {
		bool counts = used[i][1] > 0 && used[i][0] > 0;
		double share = counts ? (double)used[i][0] / (double)used[i][1] : 0;
		int64_t percent = (int64_t)(share < 1 ? share * 100 : 100);
		most = percent > most ? percent : most;
	}
	return most;
}

int64_t ledger_output_cap(const struct ledger *l, const struct prices *prices, int64_t wanted)
{
	const struct limits *m = l->limits;
	int64_t cap = wanted;
	if (m->max_output_tokens >= 0 && m->max_output_tokens - l->total.output < cap)
		cap = m->max_output_tokens - l->total.output;
	if (m->max_microusd >= 0 && prices && prices->output > 0) {
		double left = (double)(m->max_microusd - l->microusd) / prices->output;
		if (left < (double)cap)
			cap = (int64_t)left;
	}
	return cap < 1 ? 1 : cap;
}

json_t *ledger_json(const struct ledger *l)
{
	json_t *spent = json_pack("{s:I, s:I, s:I, s:o}", "input_tokens",
		(json_int_t)l->total.input, "output_tokens", (json_int_t)l->total.output,
		"cached_tokens", (json_int_t)l->total.cache_read, "microusd",
		l->microusd < 0 ? json_null() : json_integer(l->microusd));
	if (l->unmetered)
		json_object_set_new(spent, "unmetered", json_true());
	return spent;
}

void ledger_open(const struct ledger *l, const struct usage *told, const struct usage *most,
	const struct prices *prices)
{
	struct ledger now = *l, then = *l;
	ledger_add(&now, told, prices);
	ledger_add(&then, most, prices);
	json_t *event = ledger_json(&now);
	json_object_set_new(event, "most", ledger_json(&then));
	emit("spent", event);
}
