/*
 * An agent's event pipe: any bytes, however they are cut, come to the same, the ledger only rises,
 * and the fact that results is one.
 */
#include "base/json.h"
#include "run/agent_events.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void on_each(void *ctx, enum agent_event event, const json_t *line)
{
	const struct agent_events *a = ctx;
	if (event > EVENT_COUNT || !json_is_object(line) || a->spend.input_tokens < 0 ||
		a->spend.output_tokens < 0 || a->spend.microusd < 0)
		abort();
}

static json_t *play(const uint8_t *data, size_t len, size_t step)
{
	struct agent_events a;
	agent_events_init(&a);
	a.each = on_each;
	a.ctx = &a;
	for (size_t at = 0; at < len; at += step)
		agent_events_take(&a, (const char *)data + at, len - at < step ? len - at : step);
	AUTO_FACT end;
	agent_events_fact(&a, false, &end);
	json_t *fact = fact_encode(&end);
	if (!json_is_string(json_object_get(fact, "outcome")) ||
		!json_is_string(json_object_get(fact, "reason")))
		abort();
	json_object_set_new(fact, "egress", json_incref(a.egress));
	json_object_set_new(fact, "spent", json_integer(a.spend.input_tokens));
	json_object_set_new(fact, "garbled", json_boolean(a.garbled));
	agent_events_done(&a);
	return fact;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	json_auto_t *whole = play(data, len, len ? len : 1), *bytes = play(data, len, 1);
	if (!json_equal(whole, bytes))
		abort();
	return 0;
}
