/* The JSON reader: grammar, refusals, positions. */
#include "schema_kit.h"

static void test_values(void)
{
	expect_json("a.json", " [null, true, false, 0, -1, 1.5, 1e3, -0.0E-2] ",
		"[null,true,false,0,-1,1.5,1000.0,-0.0]");
	expect_json("a.json", "{\"b\": {}, \"a\": [[], {}]}", "{\"b\":{},\"a\":[[],{}]}");
	expect_json(
		"a.json", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"", "\"\\\"\\\\/\\b\\f\\n\\r\\tA\"");
	expect_json("a.json", "\"\\ud83d\\ude00 \\u00e9 😀\"", "\"😀 é 😀\"");
	/* The ends of the surrogates, and what stands beside them. */
	expect_json("a.json", "\"\\ud800\\udc00 \\udbff\\udfff \\ud7ff\\ue000\"",
		"\"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf \xed\x9f\xbf\xee\x80\x80\"");
	expect_json("a.json", "\xef\xbb\xbf[1]", "[1]");
	expect_json("a.json", "9223372036854775807", "9223372036854775807");
}

static void test_grammar(void)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{"{", "1:2"},
		{"[1,]", "1:4"},
		{"[1 2]", "1:4"},
		{"{\"a\" 1}", "1:6"},
		{"{\"a\":1,}", "1:8"},
		{"{a: 1}", "1:2"},
		{"{1: 1}", "1:2"},
		{"['a']", "1:2"},
		{"[01]", "1:3"},
		{"[.5]", "1:2"},
		{"[1.]", "1:4"},
		{"[1e]", "1:4"},
		{"[+1]", "1:2"},
		{"[-]", "1:3"},
		{"[tru]", "1:2"},
		{"[truex]", "1:2"},
		{"[NaN]", "1:2"},
		{"\"a", "1:3"},
		{"\"a\nb\"", "1:3"},
		{"\"\\x\"", "1:3"},
		{"\"\\u12g4\"", "1:6"},
		{"[1] 2", "1:5"},
		{"// c\n1", "1:1"},
		{"[\n\n  ?]", "3:3"},
		{"\"a\tb\"", "1:3"},
		{"]", "1:1"},
		{"{\"a\":}", "1:6"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading r;
		reading_init(&r, "a.json", cases[i].text);
		is(r.rc, -1, "refused: %s", cases[i].text);
		const char *lines = reading_lines(&r);
		ok(!strncmp(lines, cases[i].place, strlen(cases[i].place)) &&
				strstr(lines, "json-syntax"),
			"at %s: %s (%s)", cases[i].place, cases[i].text, lines);
		reading_done(&r);
	}
}

static void test_refusals(void)
{
	expect_findings("a.json", "{\"a\": 1, \"b\": 2, \"a\": 3}", "1:18-1:21 duplicate-key");
	expect_findings("a.json", "[9223372036854775808]", "1:2-1:21 integer-range");
	expect_findings("a.json", "[1e999]", "1:2-1:7 not-finite");
	expect_findings("a.json", "[\"\\ud800\"]", "1:2-1:10 lone-surrogate");
	expect_findings("a.json", "[\"\\udbff\"]", "1:2-1:10 lone-surrogate");
	expect_findings("a.json", "[\"\\udc00\"]", "1:2-1:10 lone-surrogate");
	expect_findings("a.json", "[\"\\udfff\"]", "1:2-1:10 lone-surrogate");
	expect_findings("a.json", "[\"\\ud800\\udbff\"]", "1:2-1:16 lone-surrogate");
	expect_findings("a.json", "[\"\\ud800\\ue000\"]", "1:2-1:16 lone-surrogate");
	expect_findings("a.json", "[\"\\ud800\\n\"]", "1:2-1:12 lone-surrogate");
	expect_findings("a.json", "[\"\\ude00\\ud83d\"]", "1:2-1:16 lone-surrogate");
	expect_findings("a.json", "[\"\\ud83d\\u0041\"]", "1:2-1:16 lone-surrogate");
	expect_findings("a.json", "[\"\\u0000\"]", "1:2-1:10 nul-character");
	expect_findings("a.json", "[\"\x01\"]", "1:3-1:4 control-character");
	expect_findings("a.json", "  ", "0:0-0:0 empty-document");
}

static void test_positions(void)
{
	struct reading r;
	reading_init(&r, "a.json", "{\"é\": [1,\r\n \"üü\", 22]}");
	const struct doc_node *list = doc_get(r.doc.root, "é");
	if (!ok(list && list->count == 3, "the list is there"))
		return;
	is(list->pos.column, 7, "columns count code points");
	is(list->pos.end_line, 2, "a list ends where its bracket is");
	is(list->pos.end_column, 11, "behind it");
	is(list->items[1].pos.line, 2, "the second line");
	is(list->items[2].pos.column, 8, "behind a non-ASCII string");
	is(list->items[2].pos.end_column, 10, "and its end");
	reading_done(&r);
}

int main(void)
{
	test_values();
	test_grammar();
	test_refusals();
	test_positions();
	return tap_done();
}
