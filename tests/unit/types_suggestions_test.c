/* Tests the cost of a wrong value: a similar name is looked for only if the problem is shown. */
#include "base/suggest.h"
#include "tests/kit/tap.h"
#include "types/types.h"

static const struct field fields[] = {{.name = "label", .type = {.kind = TYPE_STR}}};
static struct record verdict = {
	.name = "verdict", .fields = fields, .field_count = ARRAY_LEN(fields)};

/* Stands in the place of base/suggest.c, so that the looking is counted. */
static size_t looks;
const char *suggest_name(const char *word, const char *const *names, size_t count)
{
	(void)word;
	looks++;
	return count ? names[0] : NULL;
}

static size_t looks_for_unknown(int count)
{
	AUTO_BUF problems;
	buf_init(&problems, 1 << 16);
	json_auto_t *value = json_object();
	for (int i = 0; i < count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "unknown_%d", i);
		json_object_set_new(value, name, json_true());
	}
	looks = 0;
	struct type t = {.kind = TYPE_RECORD, .record = &verdict};
	is(value_check(t, value, VALUE_PARTIAL, "v", &problems), -1, "%d unknown fields", count);
	return looks;
}

int main(void)
{
	struct arena arena;
	arena_init(&arena);
	record_sort(&verdict, &arena);
	is(looks_for_unknown(50), 50, "a near name is looked for");
	is(looks_for_unknown(500), 50, "for as many as are shown");
	arena_done(&arena);
	return tap_done();
}
