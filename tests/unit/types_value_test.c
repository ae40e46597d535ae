/* Values against types: what conforms, what does not, and what is said about it. */
#include "base/json.h"
#include "tests/kit/tap.h"
#include "types/types.h"
#include <string.h>

static const char *const labels[] = {"urgent", "normal"};
static const struct field detail_fields[] = {{.name = "why", .type = {.kind = TYPE_STR}}};
static struct record detail = {.name = "detail", .fields = detail_fields, .field_count = 1};
static const struct field fields[] = {
	{.name = "label",
		.type = {.kind = TYPE_STR},
		.constraint = {.values = labels, .value_count = 2}},
	{.name = "score", .type = {.kind = TYPE_FLOAT}},
	{.name = "tags", .type = {.kind = TYPE_LIST, .item = TYPE_INT}},
	{.name = "note", .type = {.kind = TYPE_STR}, .optional = true},
	{.name = "detail", .type = {.kind = TYPE_RECORD, .record = &detail}, .optional = true},
	{.name = "extra", .type = {.kind = TYPE_JSON}, .optional = true},
};
static struct record verdict = {
	.name = "verdict", .fields = fields, .field_count = ARRAY_LEN(fields)};
static const struct type verdict_type = {.kind = TYPE_RECORD, .record = &verdict};

static void check(struct type t, const char *text, enum value_mode mode, const char *want)
{
	struct err e = ERR_NONE;
	json_auto_t *value = json_read(text, strlen(text), 1 << 20, &e);
	AUTO_BUF problems;
	buf_init(&problems, 1 << 16);
	if (!ok(value != NULL, "%s reads: %s", text, e.text))
		return;
	int rc = value_check(t, value, mode, "v", &problems);
	is_str(problems.data, want, "%s", text);
	is(rc, *want ? -1 : 0, "%s: result", text);
}

static const struct field narrow_fields[] = {
	{.name = "n",
		.type = {.kind = TYPE_INT},
		.constraint = {.min = {true, true, INT64_MAX - 1, 9.2e18},
			.max = {true, true, INT64_MAX, 9.2e18}}},
	{.name = "share",
		.type = {.kind = TYPE_FLOAT},
		.optional = true,
		.constraint = {.min = {true, false, 0, 0.5}, .max = {true, true, 1, 1}}},
	{.name = "text",
		.type = {.kind = TYPE_STR},
		.optional = true,
		.constraint = {.max_len = 3}},
	{.name = "tags",
		.type = {.kind = TYPE_LIST, .item = TYPE_STR},
		.optional = true,
		.constraint = {.values = labels, .value_count = 2, .max_len = 2}},
};
static struct record narrow = {
	.name = "narrow", .fields = narrow_fields, .field_count = ARRAY_LEN(narrow_fields)};

static void constraints(void)
{
	struct type t = {.kind = TYPE_RECORD, .record = &narrow};
	struct arena arena;
	arena_init(&arena);
	record_sort(&narrow, &arena);
	check(t,
		"{\"n\":9223372036854775806,\"share\":1,\"text\":\"\u00e4\u00e4\u00e4\",\"tags\":"
		"[\"normal\",\"urgent\"]}",
		VALUE_WHOLE, "");
	check(t, "{\"n\":9223372036854775805}", VALUE_WHOLE,
		"v.n: 9223372036854775805 is less than 9223372036854775806, the minimum\n");
	check(t, "{\"share\":0.499}", VALUE_PARTIAL,
		"v.share: 0.499 is less than 0.5, the minimum\n");
	check(t, "{\"share\":2}", VALUE_PARTIAL, "v.share: 2 is more than 1, the maximum\n");
	check(t, "{\"text\":\"\u00e4bcd\"}", VALUE_PARTIAL,
		"v.text: 4 characters, and at most 3 are allowed\n");
	check(t, "{\"tags\":[\"urgent\",\"late\",\"normal\"]}", VALUE_PARTIAL,
		"v.tags: 3 items, and at most 2 are allowed\n"
		"v.tags[1]: \"late\" is not one of \"urgent\", \"normal\"\n");
	check(t, "{\"share\":\"1\",\"tags\":[1]}", VALUE_PARTIAL,
		"v.share: expected a number (float), got a string\n"
		"v.tags[0]: expected a string (str), got an integer\n");
	struct type list = {.kind = TYPE_LIST, .item = TYPE_RECORD, .record = &narrow};
	is_str(type_name(list), "list[narrow]", "the name of a list of records");
	check(list, "[{\"n\":9223372036854775807},{},{\"n\":true}]", VALUE_PARTIAL,
		"v[1].n: required, but missing\n"
		"v[2].n: expected an integer (int), got a boolean\n");
	check(list, "{}", VALUE_PARTIAL, "v: expected a list (list[narrow]), got an object\n");
	struct demand demand = {{.kind = TYPE_INT}, &narrow_fields[0].constraint, VALUE_WHOLE};
	AUTO_BUF problems;
	buf_init(&problems, 1 << 16);
	json_auto_t *seven = json_integer(7);
	is(demand_check(&demand, seven, "v", &problems), -1, "the constraint of a declaration");
	is_str(problems.data, "v: 7 is less than 9223372036854775806, the minimum\n", "and why");
	arena_done(&arena);
}

static void scalars(void)
{
	struct type str = {.kind = TYPE_STR}, integer = {.kind = TYPE_INT},
		    number = {.kind = TYPE_FLOAT}, boolean = {.kind = TYPE_BOOL};
	check(str, "\"a\"", VALUE_WHOLE, "");
	check(str, "1", VALUE_WHOLE, "v: expected a string (str), got an integer\n");
	check(integer, "-9223372036854775808", VALUE_WHOLE, "");
	check(integer, "1.0", VALUE_WHOLE, "v: expected an integer (int), got a float\n");
	check(integer, "true", VALUE_WHOLE, "v: expected an integer (int), got a boolean\n");
	check(number, "1", VALUE_WHOLE, "");
	check(number, "1.5", VALUE_WHOLE, "");
	check(number, "\"1.5\"", VALUE_WHOLE, "v: expected a number (float), got a string\n");
	check(boolean, "false", VALUE_WHOLE, "");
	check(boolean, "\"false\"", VALUE_WHOLE,
		"v: expected true or false (bool), got a string\n");
	check(boolean, "null", VALUE_WHOLE, "v: expected true or false (bool), got null\n");
}

/* Checks how a value is corrected if its type leaves no other meaning. */
static void coerces(struct type t, const char *text, const char *want)
{
	json_auto_t *value = json_read(text, strlen(text), 1 << 20, NULL);
	json_auto_t *own = value_coerce(t, value);
	AUTO_FREE char *got = json_text(own), *before = json_text(value);
	is_str(got, want, "%s as %s", text, type_name(t));
	json_auto_t *again = json_read(text, strlen(text), 1 << 20, NULL);
	AUTO_FREE char *after = json_text(again);
	is_str(before, after, "and the value stays as it was");
}

static void coercions(void)
{
	const struct type str = {.kind = TYPE_STR}, integer = {.kind = TYPE_INT},
			  number = {.kind = TYPE_FLOAT}, boolean = {.kind = TYPE_BOOL},
			  numbers = {.kind = TYPE_LIST, .item = TYPE_INT},
			  texts = {.kind = TYPE_LIST, .item = TYPE_STR}, any = {.kind = TYPE_JSON};
	coerces(integer, "1.0", "1");
	coerces(integer, "-3e2", "-300");
	coerces(integer, "1.5", "1.5");
	coerces(integer, "1e300", "1e+300");
	coerces(integer, "\"17\"", "17");
	coerces(integer, "\" 17.0 \"", "17");
	coerces(integer, "\"17 files\"", "\"17 files\"");
	coerces(integer, "\"\\\"17\\\"\"", "\"\\\"17\\\"\"");
	coerces(integer, "true", "true");
	coerces(number, "\"1.5\"", "1.5");
	coerces(number, "\"NaN\"", "\"NaN\"");
	coerces(boolean, "\"true\"", "true");
	coerces(boolean, "\"yes\"", "\"yes\"");
	coerces(boolean, "1", "1");
	coerces(str, "\"[1]\"", "\"[1]\"");
	coerces(str, "1", "1");
	coerces(any, "\"[1]\"", "\"[1]\"");
	coerces(numbers, "\"[1, 2.0, \\\"3\\\"]\"", "[1,2,3]");
	coerces(numbers, "\"1, 2\"", "\"1, 2\"");
	coerces(texts, "\"[\\\"a\\\", \\\"1\\\"]\"", "[\"a\",\"1\"]");
	coerces(texts, "\"a\"", "\"a\"");
	coerces(verdict_type,
		"{\"label\":\"1\",\"score\":\"0.5\",\"tags\":\"[1.0]\",\"note\":\"{}\",\"detail\":"
		"\"{\\\"why\\\":\\\"2\\\"}\",\"extra\":\"[]\",\"other\":\"3\"}",
		"{\"detail\":{\"why\":\"2\"},\"extra\":\"[]\",\"label\":\"1\",\"note\":\"{}\","
		"\"other\":\"3\",\"score\":0.5,\"tags\":[1]}");
	coerces(verdict_type, "\"{\\\"score\\\": 1}\"", "{\"score\":1}");
	coerces(verdict_type, "\"[1]\"", "\"[1]\"");
}

/* A list of alternatives too long to be shown. */
static void many_alternatives(void)
{
	static const char *const colours[] = {"carmine", "vermilion", "ochre", "saffron",
		"viridian", "cerulean", "ultramarine", "mauve", "sepia", "umber", "sienna",
		"indigo", "magenta", "turquoise", "chartreuse", "burgundy", "aquamarine",
		"periwinkle", "terracotta", "champagne", "eggshell", "gunmetal", "alabaster",
		"celadon", "cinnabar"};
	static const struct field field[] = {{.name = "colour",
		.type = {.kind = TYPE_STR},
		.constraint = {.values = colours, .value_count = ARRAY_LEN(colours)}}};
	const struct field *const by_name[] = {field};
	const struct record paint = {
		.name = "paint", .fields = field, .field_count = 1, .by_name = by_name};
	struct type t = {.kind = TYPE_RECORD, .record = &paint};
	check(t, "{\"colour\":\"cinnabar\"}", VALUE_WHOLE, "");
	check(t, "{\"colour\":\"sienne\"}", VALUE_WHOLE,
		"v.colour: \"sienne\" is not one of the 25 allowed values; did you mean "
		"\"sienna\"?\n");
	check(t, "{\"colour\":\"of a dog\"}", VALUE_WHOLE,
		"v.colour: \"of a dog\" is not one of the 25 allowed values\n");
}

static void records(void)
{
	check(verdict_type, "{\"label\":\"urgent\",\"score\":1,\"tags\":[1,2]}", VALUE_WHOLE, "");
	check(verdict_type, "{}", VALUE_PARTIAL, "");
	check(verdict_type, "{}", VALUE_WHOLE,
		"v.label: required, but missing\nv.score: required, but missing\n"
		"v.tags: required, but missing\n");
	check(verdict_type, "{\"label\":\"urgnet\"}", VALUE_PARTIAL,
		"v.label: \"urgnet\" is not one of \"urgent\", \"normal\"\n");
	check(verdict_type, "{\"lable\":\"urgent\"}", VALUE_PARTIAL,
		"v.lable: verdict has no such field; did you mean \"label\"?\n");
	check(verdict_type, "{\"tags\":[1,\"2\",3.0]}", VALUE_PARTIAL,
		"v.tags[1]: expected an integer (int), got a string\n"
		"v.tags[2]: expected an integer (int), got a float\n");
	check(verdict_type, "{\"detail\":{\"why\":null}}", VALUE_PARTIAL,
		"v.detail.why: expected a string (str), got null\n");
	check(verdict_type, "{\"note\":null}", VALUE_PARTIAL,
		"v.note: expected a string (str), got null\n");
	check(verdict_type, "[]", VALUE_PARTIAL, "v: expected an object (verdict), got a list\n");
	check(verdict_type, "{\"extra\":{\"any\":[1,{\"thing\":null}]}}", VALUE_PARTIAL, "");
}

static void special(void)
{
	struct type json = {.kind = TYPE_JSON}, str = {.kind = TYPE_STR};
	AUTO_BUF problems;
	buf_init(&problems, 1 << 16);
	json_auto_t *nul = json_stringn("a\0b", 3);
	is(value_check(str, nul, VALUE_WHOLE, "", &problems), -1, "NUL in a string");
	is_str(problems.data, "the string holds a NUL character\n", "named without a path");
	buf_clear(&problems);
	json_auto_t *deep = json_integer(1);
	for (int i = 0; i < 65; i++) {
		deep = i % 2 ? json_pack("[o]", deep) : json_pack("{s:o}", "k", deep);
		if (i == 63)
			is(value_check(json, deep, VALUE_WHOLE, "v", &problems), 0, "64 levels");
	}
	is(value_check(json, deep, VALUE_WHOLE, "v", &problems), -1, "65 levels");
	has_str(problems.data, "nests deeper than 64 levels", "said so");
	buf_clear(&problems);
	json_auto_t *many = json_array();
	for (int i = 0; i < 60; i++)
		json_array_append_new(many, json_null());
	struct type list = {.kind = TYPE_LIST, .item = TYPE_STR};
	is(value_check(list, many, VALUE_WHOLE, "v", &problems), -1, "60 problems");
	has_str(problems.data, "and 10 more problems\n", "fifty are shown");
}

/* Checks that a field's name of any length, which anybody may choose, gives a readable line. */
static void foreign_names(void)
{
	AUTO_BUF text, want;
	buf_init(&text, 1 << 20);
	buf_init(&want, 1 << 20);
	buf_adds(&text, "{\"label\":\"urgent\",\"score\":1,\"tags\":[],\"");
	buf_adds(&want, "v.");
	for (int i = 0; i < 70000; i++) {
		buf_addc(&text, 'b');
		buf_adds(&want, i < 64 ? "b" : "");
	}
	buf_adds(&text, "\":1}");
	buf_adds(&want, ": verdict has no such field\n");
	check(verdict_type, text.data, VALUE_WHOLE, want.data);
	check(verdict_type, "{\"a\\nb\":1}", VALUE_PARTIAL,
		"v.a\\x0ab: verdict has no such field\n");
	check(verdict_type, "{\"label\":\"a\\nb\"}", VALUE_PARTIAL,
		"v.label: \"a\\x0ab\" is not one of \"urgent\", \"normal\"\n");
}

int main(void)
{
	struct arena arena;
	arena_init(&arena);
	record_sort(&detail, &arena);
	record_sort(&verdict, &arena);
	scalars();
	constraints();
	coercions();
	records();
	many_alternatives();
	special();
	foreign_names();
	arena_done(&arena);
	return tap_done();
}
