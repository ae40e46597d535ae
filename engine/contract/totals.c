#include "contract/totals.h"

#include "base/num.h"

#include <math.h>

/* The least amount whose millionths do not fit 64 bits. */
static const double usd_most = 9223372036854.0;

static double usd_of(const struct totals *totals)
{
	return (double)totals->microusd / 1e6;
}

void totals_add(struct totals *totals, const struct spend *spend)
{
	totals->input_tokens = num_add(totals->input_tokens, spend->input_tokens);
	totals->output_tokens = num_add(totals->output_tokens, spend->output_tokens);
	totals->cached_tokens = num_add(totals->cached_tokens, spend->cached_tokens);
	totals->microusd = num_add(totals->microusd, spend->microusd);
	totals->unpriced |= spend->unpriced || spend->unmetered;
	totals->unmetered |= spend->unmetered;
}

bool totals_equal(const struct totals *totals, const struct totals *other)
{
	return totals->transitions == other->transitions &&
	       totals->input_tokens == other->input_tokens &&
	       totals->output_tokens == other->output_tokens &&
	       totals->cached_tokens == other->cached_tokens && usd_of(totals) == usd_of(other) &&
	       totals->unpriced == other->unpriced && totals->unmetered == other->unmetered;
}

json_t *totals_encode(const struct totals *totals)
{
	json_t *out = json_pack("{s:I,s:I,s:I,s:I,s:f,s:b}", "transitions",
		(json_int_t)totals->transitions, "input_tokens", (json_int_t)totals->input_tokens,
		"output_tokens", (json_int_t)totals->output_tokens, "cached_tokens",
		(json_int_t)totals->cached_tokens, "usd", usd_of(totals), "unpriced",
		totals->unpriced);
	if (totals->unmetered)
		json_object_set_new(out, "unmetered", json_true());
	return out;
}

int totals_decode(const json_t *data, struct totals *out)
{
	json_int_t transitions, input, output, cached;
	double usd;
	int unpriced, unmetered = 0;
	if (json_unpack_ex((json_t *)(uintptr_t)data, NULL, JSON_STRICT,
		    "{s:I,s:I,s:I,s:I,s:f,s:b,s?b}", "transitions", &transitions, "input_tokens",
		    &input, "output_tokens", &output, "cached_tokens", &cached, "usd", &usd,
		    "unpriced", &unpriced, "unmetered", &unmetered) ||
		!(usd >= 0))
		return -1;
	*out = (struct totals){.transitions = transitions,
		.input_tokens = input,
		.output_tokens = output,
		.cached_tokens = cached,
		.microusd = usd < usd_most ? llround(usd * 1e6) : INT64_MAX,
		.unpriced = unpriced,
		.unmetered = unmetered};
	json_auto_t *again = totals_encode(out);
	return json_equal(again, data) ? 0 : -1;
}
