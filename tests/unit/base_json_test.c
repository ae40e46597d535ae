/* base: JSON at the edges. */
#include "base/json.h"
#include "tests/kit/tap.h"
#include <string.h>

static void expect_refused(const char *text, const char *reason)
{
	struct err e = ERR_NONE;
	json_auto_t *value = json_read(text, strlen(text), 1000, &e);
	ok(!value, "refused: %.40s", text);
	has_str(e.text, reason, "%.40s", text);
}

/* `unit` as often as it goes into a list of `count` values. */
static bool reads(const char *unit, size_t count, struct err *e)
{
	AUTO_BUF b;
	buf_init(&b, (size_t)16 << 20);
	buf_addc(&b, '[');
	for (size_t i = 0; i < count; i++)
		buf_addf(&b, "%s%s", i ? "," : "", unit);
	buf_addc(&b, ']');
	json_auto_t *value = json_read(b.data, b.len, b.len, e);
	is(!value, json_too_many(b.data, b.len), "asked beforehand it is the same");
	return value;
}

/* Checks the limit on values: one byte of text may take 80 of memory. */
static void test_values(void)
{
	struct err e = ERR_NONE;
	ok(reads("1", JSON_VALUES_MAX - 3, &e), "half a million numbers");
	ok(!reads("1", JSON_VALUES_MAX - 2, &e), "one more is too many");
	has_str(e.text, "524288 values", "the limit is named");
	ok(reads("{}", 100000, &e), "objects");
	ok(!reads("{}", 110000, &e), "which count as four, and their comma");
	ok(!reads("[]", 110000, &e), "as lists do");
	ok(reads("\"{{[[,,,,,,,,\"", 100000, &e), "what is quoted does not count");
}

static void test_reading(void)
{
	struct err e = ERR_NONE;
	json_auto_t *scalar = json_read("42", 2, 1000, &e);
	ok(json_integer_value(scalar) == 42, "a scalar at the top");
	expect_refused("{\"a\":1,\"a\":2}", "duplicate");
	expect_refused("[1] 2", "at column ");
	expect_refused("[1,\n x]", "not valid JSON at line 2, column 2: ");
	expect_refused(
		"[\"\\u0000\"]", "not valid JSON at column 9: a string holds the character NUL");
	expect_refused(
		"{\"\\u0000\": 1}", "not valid JSON at column 9: a string holds the character NUL");
	expect_refused("[\"\\ud800\"]", "at column ");
	expect_refused("[\"\xff\"]", "at column ");
	expect_refused("[9223372036854775808]", "at column ");
	expect_refused("[1e999]", "at column ");
	expect_refused("[NaN]", "at column ");
	expect_refused("", "at column ");
	expect_refused("\n\n[", "line 3");
	AUTO_BUF b;
	buf_init(&b, 100000);
	for (int i = 0; i < 64; i++)
		buf_addc(&b, '[');
	for (int i = 0; i < 64; i++)
		buf_addc(&b, ']');
	json_auto_t *deep = json_read(b.data, b.len, 1000, &e);
	ok(deep != NULL, "64 levels");
	buf_clear(&b);
	for (int i = 0; i < 20000; i++)
		buf_addc(&b, '[');
	json_auto_t *deeper = json_read(b.data, b.len, 100000, &e);
	ok(!deeper, "20,000 levels");
	has_str(e.text, "64", "the limit is named");
	e = ERR_NONE;
	json_auto_t *nested = json_read_nested("[[[1]]]", 7, (struct json_cap){7, 3, 100}, &e);
	ok(nested != NULL, "a cap of its own");
	json_auto_t *more = json_read_nested("[[[[1]]]]", 9, (struct json_cap){9, 3, 100}, &e);
	ok(!more, "which holds");
	e = ERR_NONE;
	json_auto_t *large = json_read("[1,2,3]", 7, 6, &e);
	ok(!large, "more bytes than allowed");
	test_values();
	json_auto_t *quoted = json_read("[\"[[[[\\\"]]\"]", 12, 100, &e);
	ok(quoted != NULL, "brackets in strings nest nothing");
}

static void test_writing(void)
{
	static const struct {
		const char *text, *canonical;
	} cases[] = {
		{"{\"b\":1,\"a\":{\"d\":2,\"c\":[]}}", "{\"a\":{\"c\":[],\"d\":2},\"b\":1}"},
		{"[1.0,0.1,1e16,-0.0,1]", "[1.0,0.1,1e+16,-0.0,1]"},
		{"[true,false,null]", "[true,false,null]"},
		{"\"\\u001f\\u0007\\b\\t\\n\\f\\r\\\"\\\\\\/\"",
			"\"\\u001f\\u0007\\b\\t\\n\\f\\r\\\"\\\\/\""},
		{"\"\\u00e9\\ud83d\\ude00\\u2028\\u007f\"", "\"é😀\xe2\x80\xa8\x7f\""},
		{"{\"\\u00e9\":1,\"z\":2,\"\\ud83d\\ude00\":3,\"\\uffff\":4}",
			"{\"z\":2,\"é\":1,\"\xef\xbf\xbf\":4,\"😀\":3}"},
		{"{}", "{}"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *value = json_loads(cases[i].text, JSON_DECODE_ANY, NULL);
		AUTO_FREE char *text = json_text(value);
		is_str(text, cases[i].canonical, "%s", cases[i].text);
		json_auto_t *back = json_loads(text, JSON_DECODE_ANY, NULL);
		ok(json_equal(value, back), "reads back the same");
	}
	AUTO_BUF small;
	buf_init(&small, 3);
	json_auto_t *value = json_loads("[1,2,3]", 0, NULL);
	is(json_write(&small, value), -1, "a text over the limit");
}

int main(void)
{
	test_reading();
	test_writing();
	return tap_done();
}
