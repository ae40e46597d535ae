/* Tests a state's ledger: sums that stay lower bounds once they are, and limits. */
#include "agent/ledger.h"
#include "tests/kit/tap.h"

static const struct prices prices = {.input = 1, .output = 10};

static struct usage used(int64_t input, int64_t output, bool known)
{
	struct usage u = USAGE_NONE;
	u.input = input;
	u.output = output;
	u.known = known;
	return u;
}

static void add(struct ledger *ledger, int64_t input, int64_t output, const struct prices *charged)
{
	struct usage u = used(input, output, true);
	ledger_add(ledger, &u, charged);
}

static void sums(void)
{
	const struct agent_limits none = {.max_input_tokens = -1,
		.max_output_tokens = -1,
		.max_microusd = -1,
		.best_effort_microusd = -1};
	const struct usage untold = used(5, 0, false);
	struct ledger l;
	ledger_init(&l, &none);
	add(&l, 100, 10, &prices);
	is(l.microusd, 200, "what has a price is priced");
	ok(!l.unmetered, "and metered");
	add(&l, 1, 1, NULL);
	add(&l, 100, 0, &prices);
	is(l.microusd, -1, "once something could not be priced, the sum cannot");
	is(l.measured_microusd, 300, "but what could be measured is");
	is(l.total.input, 201, "and the tokens are counted");
	json_auto_t *before = ledger_json(&l);
	ok(json_is_null(json_object_get(before, "microusd")), "an event has no sum then");
	ok(!json_object_get(before, "unmetered"), "and no word of a bound");
	ledger_add(&l, &untold, &prices);
	add(&l, 100, 10, &prices);
	json_auto_t *after = ledger_json(&l);
	ok(json_is_true(json_object_get(after, "unmetered")),
		"a lower bound stays one, whatever is told later");
}

/* After 200 tokens of input and 10 of output, which make 300 millionths of a dollar. */
static void limits(void)
{
	static const struct {
		int64_t input, output, microusd, soft;
		const char *why; /* NULL: the next call may be made */
		int64_t percent, room;
		bool hard;
	} rows[] = {
		{-1, -1, -1, -1, NULL, 0, 500, false},
		{201, -1, -1, -1, NULL, 99, 500, true},
		{200, -1, -1, -1, "max_input_tokens is used up", 100, 500, true},
		{100, -1, -1, -1, "max_input_tokens is used up", 100, 500, true},
		{-1, 20, -1, -1, NULL, 50, 10, true},
		{-1, 10, -1, -1, "max_output_tokens is used up", 100, 1, true},
		{-1, 1000, -1, -1, NULL, 1, 500, true},
		{-1, 505, -1, -1, NULL, 1, 495, true},
		{-1, -1, 400, -1, NULL, 75, 10, true},
		{-1, -1, 300, -1, "max_usd is used up", 100, 1, true},
		{-1, -1, 6000, -1, NULL, 5, 500, true},
		{-1, -1, -1, 301, NULL, 99, 500, false},
		{-1, -1, -1, 300, "best_effort_usd_limit is used up", 100, 500, false},
		{-1, -1, -1, 0, "best_effort_usd_limit is used up", 0, 500, false},
		{400, 40, 600, 300, "best_effort_usd_limit is used up", 100, 30, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct agent_limits m = {.max_input_tokens = rows[i].input,
			.max_output_tokens = rows[i].output,
			.max_microusd = rows[i].microusd,
			.best_effort_microusd = rows[i].soft};
		struct ledger l;
		ledger_init(&l, &m);
		ok(!ledger_reached(&l), "row %zu: a call may be made first", i);
		add(&l, 200, 10, &prices);
		is_str(ledger_reached(&l), rows[i].why, "row %zu: what is reached", i);
		is(ledger_percent(&l), rows[i].percent, "row %zu: how much of it", i);
		is(ledger_output_cap(&l, &prices, 500), rows[i].room, "row %zu: what is left", i);
		is(ledger_is_hard(&l), rows[i].hard, "row %zu: whether it must hold", i);
	}
}

/* It ends what can be priced and nothing else, so that it lets a model without a price begin. */
static void best_effort(void)
{
	const struct agent_limits m = {.max_input_tokens = -1,
		.max_output_tokens = -1,
		.max_microusd = -1,
		.best_effort_microusd = 0};
	struct ledger l;
	ledger_init(&l, &m);
	ok(!ledger_reached(&l), "nothing is measured yet");
	add(&l, 100, 100, NULL);
	ok(!ledger_reached(&l), "nor of what has no price");
	add(&l, 1, 0, &prices);
	ok(ledger_reached(&l), "a millionth is too much");
}

int main(void)
{
	sums();
	limits();
	best_effort();
	return tap_done();
}
