/* The result of the loop, as the final event has it. */
#include "agent/loop.h"

#include "base/utf8.h"

void loop_result_done(struct loop_result *result)
{
	json_decref(result->payload);
	result->payload = NULL;
}

json_t *loop_result_json(const struct loop_result *result)
{
	json_t *usage = ledger_json(&result->ledger);
	json_object_set_new(usage, "turns", json_integer((json_int_t)result->turns));
	json_t *payload = result->payload ? json_incref(result->payload) : json_null();
	return json_pack("{s:s, s:s, s:o, s:o}", "outcome", outcome_name(result->outcome), "reason",
		result->reason, "payload", payload, "usage", usage);
}

json_t *loop_failure(const char *reason)
{
	struct loop_result r = {.outcome = OUTCOME_FAILED};
	utf8_copy(r.reason, sizeof(r.reason), reason);
	return loop_result_json(&r);
}
