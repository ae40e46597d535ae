/* contract: every word leads back to its member, nothing else does, and the published schema has
 * the same words. */
#include "base/json.h"
#include "contract/event.h"
#include "contract/outcome.h"
#include "tests/kit/tap.h"

#include <stdlib.h>

/* The words of a list and what the schema of the journal has instead, in the same order. */
static void same_words(const char *const words[], size_t count, const json_t *schema)
{
	is(json_array_size(schema), count, "the schema has as many words");
	for (size_t i = 0; i < count; i++)
		is_str(json_string_value(json_array_get(schema, i)), words[i], "%s", words[i]);
}

#define X(name, text) text,
static const char *const outcomes[] = {OUTCOMES(X)}, *const ends[] = {AGENT_ENDS(X)};
#undef X

static void test_schema(void)
{
	char path[4096];
	const char *top = getenv("AGENT6_SRC");
	snprintf(path, sizeof(path), "%s/schema/journal.schema.json", top ? top : ".");
	json_auto_t *schema = json_load_file(path, 0, NULL);
	const json_t *defs = json_object_get(schema, "$defs"), *fact;
	same_words(
		outcomes, OUTCOME_COUNT, json_object_get(json_object_get(defs, "outcome"), "enum"));
	fact = json_object_get(json_object_get(defs, "agent_fact"), "properties");
	same_words(
		ends, AGENT_END_COUNT, json_object_get(json_object_get(fact, "outcome"), "enum"));
}

#define BOTH_WAYS(kind, COUNT)                                                                     \
	static void test_##kind(void)                                                              \
	{                                                                                          \
		for (enum kind i = 0; i < COUNT; i++)                                              \
			is(kind##_find(kind##_name(i)), i, #kind " %s", kind##_name(i));           \
		is(kind##_find("no such word"), COUNT, #kind ": of another word");                 \
		is(kind##_find(""), COUNT, #kind ": of an empty text");                            \
		is(kind##_find(NULL), COUNT, #kind ": of none");                                   \
		is_str(kind##_name(COUNT), "?", #kind ": of no member");                           \
	}
BOTH_WAYS(outcome, OUTCOME_COUNT)
BOTH_WAYS(agent_event, EVENT_COUNT)
BOTH_WAYS(decision, DECIDE_COUNT)
BOTH_WAYS(audit_type, AUDIT_TYPE_COUNT)

int main(void)
{
	test_outcome();
	test_agent_event();
	test_decision();
	test_audit_type();
	test_schema();
	return tap_done();
}
