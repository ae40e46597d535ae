/* Shows a run's totals: tokens, money and retries. */
#include "report/show.h"

#include "base/num.h"
#include "report/text.h"

void show_retries(struct buf *out, const struct totals *totals, uint64_t steps)
{
	int64_t retries = num_add(totals->transitions, -(int64_t)steps);
	if (retries > 0)
		buf_addf(out, ", %jd %s", (intmax_t)retries, retries == 1 ? "retry" : "retries");
}

static bool spent_nothing(const struct totals *totals)
{
	return !totals->input_tokens && !totals->output_tokens;
}

void show_cost(struct buf *out, const struct totals *totals)
{
	if (spent_nothing(totals))
		return;
	if (totals->microusd || !totals->unpriced)
		text_money(out, totals->microusd);
	if (totals->unmetered && totals->microusd)
		buf_adds(out, " by estimate");
	else if (totals->unpriced)
		buf_adds(out, totals->microusd ? " and unpriced" : "unpriced");
}

void show_spend(struct buf *out, const struct totals *totals)
{
	if (spent_nothing(totals))
		return;
	text_count(out, totals->input_tokens);
	buf_adds(out, " in, ");
	text_count(out, totals->output_tokens);
	buf_adds(out, totals->unmetered ? " out tokens (estimated), " : " out tokens, ");
	show_cost(out, totals);
}

void show_spend_short(struct buf *line, const struct totals *totals)
{
	if (spent_nothing(totals))
		return;
	buf_adds(line, "  ");
	text_count(line, totals->input_tokens);
	buf_addc(line, '+');
	text_count(line, totals->output_tokens);
	buf_adds(line, totals->unmetered ? " tokens (estimated)" : " tokens");
	if (!totals->unpriced) {
		buf_adds(line, ", ");
		text_money(line, totals->microusd);
	}
}

struct totals show_totals(const json_t *totals)
{
	const json_t *usd = json_object_get(totals, "usd");
	return (struct totals){.transitions = json_get_int(totals, "transitions"),
		.input_tokens = json_get_int(totals, "input_tokens"),
		.output_tokens = json_get_int(totals, "output_tokens"),
		.microusd = num_microusd(json_number_value(usd)),
		.unpriced = json_is_true(json_object_get(totals, "unpriced")),
		.unmetered = json_is_true(json_object_get(totals, "unmetered"))};
}
