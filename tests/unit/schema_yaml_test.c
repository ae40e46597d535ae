/* The YAML reader: core schema, refusals, positions. */
#include "schema_kit.h"

static void test_scalars(void)
{
	expect_json("a.yaml", "[null, Null, NULL, ~, '']", "[null,null,null,null,\"\"]");
	expect_json("a.yaml", "[true, True, TRUE, false, tRUE]", "[true,true,true,false,\"tRUE\"]");
	expect_json("a.yaml", "[yes, no, on, off, y, n]",
		"[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\"]");
	expect_json("a.yaml", "on: 1\nyes: 2", "{\"on\":1,\"yes\":2}");
	expect_json("a.yaml", "[0, -0, +7, 007, 0x1F, 0o17, 0b1, 1_000]",
		"[0,0,7,7,31,15,\"0b1\",\"1_000\"]");
	expect_json("a.yaml", "[9223372036854775807, -9223372036854775808]",
		"[9223372036854775807,-9223372036854775808]");
	expect_json(
		"a.yaml", "[1.5, .5, 1., -1e3, +1E-2, 1e3]", "[1.5,0.5,1.0,-1000.0,0.01,1000.0]");
	expect_json("a.yaml", "[., -, +, e3, 1e, 1.2.3, 0x, 0o8, -0x1, 12:30:45, 2001-01-01]",
		"[\".\",\"-\",\"+\",\"e3\",\"1e\",\"1.2.3\",\"0x\",\"0o8\",\"-0x1\",\"12:30:45\","
		"\"2001-01-01\"]");
}

static void test_strings(void)
{
	expect_json("a.yaml", "['1', \"true\", \"null\", '~']", "[\"1\",\"true\",\"null\",\"~\"]");
	expect_json("a.yaml", "a: |\n  x\n   y\nb: >-\n  x\n  y\n",
		"{\"a\":\"x\\n y\\n\",\"b\":\"x y\"}");
	expect_json("a.yaml", "a: \"\\u00e9\\x41\\n\"",
		"{\"a\":\"é"
		"A\\n\"}");
	expect_json("a.yaml",
		"\xef\xbb\xbf"
		"a: 1",
		"{\"a\":1}");
	expect_json("a.yml", "# c\r\na: 1\r\nb: [x,\r\n y]\r\n", "{\"a\":1,\"b\":[\"x\",\"y\"]}");
	expect_json("a.yaml", "\"<<\": 1", "{\"<<\":1}");
	expect_json("a.yaml", "[<<, a]", "[\"<<\",\"a\"]");
	expect_json("a.yaml", "!!map {a: !!str 1, b: !!int \"2\", c: !!float 3, d: !!bool true}",
		"{\"a\":\"1\",\"b\":2,\"c\":3.0,\"d\":true}");
	expect_json("a.yaml", "a: !!seq [! 1, !!null ~, !!null , !!str , ! ]",
		"{\"a\":[\"1\",null,null,\"\",\"\"]}");
	expect_json("a.yaml", "!!str true: ! {a: !!float 1e3}", "{\"true\":{\"a\":1000.0}}");
	expect_json("a.yaml", "a: |2\n  \tx\n", "{\"a\":\"\\tx\\n\"}");
}

static void test_refusals(void)
{
	expect_findings("a.yaml", "a: 1\nb: 2\na: 3", "3:1-3:2 duplicate-key");
	expect_findings("a.yaml", "a: 1\n---\nb: 2", "2:1-2:4 yaml-multiple-documents");
	expect_findings("a.yaml", "a: !x 1", "1:4-1:5 yaml-tag");
	expect_findings("a.yaml", "a: !!set {b, c}", "1:4-1:5 yaml-tag");
	expect_findings("a.yaml", "a: !!map [1]", "1:4-1:5 yaml-tag");
	expect_findings("a.yaml", "a: !!seq x", "1:4-1:5 yaml-tag");
	expect_findings("a.yaml", "a: !!int x", "1:4-1:11 yaml-tag");
	expect_findings("a.yaml", "a: !!bool 1", "1:4-1:12 yaml-tag");
	expect_findings("a.yaml", "a: !!null x", "1:4-1:12 yaml-tag");
	expect_findings("a.yaml", "a: !!int 99999999999999999999", "1:4-1:30 integer-range");
	expect_findings("a.yaml", "%TAG ! tag:x,2000:\n---\na: 1", "1:1-2:4 yaml-tag");
	expect_findings("a.yaml", "a: !x [1]", "1:4-1:5 yaml-tag");
	expect_findings("a.yaml", "a: &x 1\nb: *x", "1:4-1:5 yaml-anchor\n2:4-2:6 yaml-anchor");
	expect_findings("a.yaml", "<<: {a: 1}", "1:1-1:3 yaml-merge-key");
	expect_findings("a.yaml", "1: a\ntrue: b\n~: c\n1.5: d",
		"1:1-1:2 key-not-string\n2:1-2:5 key-not-string\n3:1-3:2 key-not-string\n"
		"4:1-4:4 key-not-string");
	expect_findings("a.yaml", "? [a]\n: b", "1:3-1:6 key-not-string");
	expect_findings("a.yaml", "a: 9223372036854775808", "1:4-1:23 integer-range");
	expect_findings("a.yaml", "a: -9223372036854775809", "1:4-1:24 integer-range");
	expect_findings("a.yaml", "a: 0x8000000000000000", "1:4-1:22 integer-range");
	expect_findings("a.yaml", "[.inf, -.INF, +.Inf, .nan, .NaN, 1e999]",
		"1:2-1:6 not-finite\n1:8-1:13 not-finite\n1:15-1:20 not-finite\n1:22-1:26 "
		"not-finite\n"
		"1:28-1:32 not-finite\n1:34-1:39 not-finite");
	expect_findings("a.yaml", "a: \"x\\0y\"", "1:4-1:10 nul-character");
	expect_findings("a.yaml", "", "0:0-0:0 empty-document");
	expect_findings("a.yaml", "# only\n", "0:0-0:0 empty-document");
	expect_findings("a.yaml", "a: [1", "1:6-1:7 yaml-syntax");
	expect_findings("a.yaml", "a: 1\n\tb: 2", "2:1-2:2 yaml-syntax");
	expect_findings("a.yaml", "a: {{ x }}", "1:4-1:11 key-not-string");
	expect_findings("a.yaml", "a: {{ x }} and more", "1:4-1:11 key-not-string");
	expect_findings(
		"a.yaml", "a: {{x: 1}: 1}\nb: [c", "1:4-1:15 key-not-string\n2:6-2:7 yaml-syntax");
	expect_findings("a.txt", "a: 1", "0:0-0:0 file-format");
}

static void test_bytes(void)
{
	expect_findings("a.yaml", "a: \xff", "1:4-1:5 invalid-utf8");
	expect_findings("a.yaml", "é: \xc3", "1:4-1:5 invalid-utf8");
	expect_findings("a.yaml", "a: \xed\xa0\x80", "1:4-1:5 invalid-utf8");
	expect_findings("a.yaml", "a: \x1b[31m", "1:4-1:5 control-character");
	expect_findings("a.yaml", "é\x7f\n b\xc2\x85",
		"1:2-1:3 control-character\n2:3-2:4 control-character");
	expect_findings("a.yaml", "a: 'x\xe2\x80\xa8y'", "1:6-1:7 control-character");
	expect_findings("a.yaml",
		"a: \xe2\x80\xae"
		"b # \xe2\x81\xa9",
		"1:4-1:5 control-character\n1:9-1:10 control-character");
	expect_findings("a.yaml", "a: 1\nb: \xef\xbf\xbe", "2:4-2:5 control-character");
	expect_findings("a.yaml", "a: x\xf3\xa0\x81\x81y", "1:5-1:6 control-character");
	struct reading r;
	reading_bytes(&r, "a.yaml", "a: \0b\0", 6);
	is_str(reading_lines(&r), "1:4-1:5 control-character", "one NUL byte says it all");
	reading_done(&r);
}

static void test_all_at_once(void)
{
	expect_findings("a.yaml", "a: .inf\nb: &x 1\na: 2\n1: 3\n",
		"1:4-1:8 not-finite\n2:4-2:5 yaml-anchor\n3:1-3:2 duplicate-key\n4:1-4:2 "
		"key-not-string");
}

static void test_positions(void)
{
	struct reading r;
	reading_init(&r, "a.yaml", "ключ: [a, {b: \"ü\"}]\nx:\n  - |\n    text\n  - y\n");
	const struct doc_pair *p = doc_pair(r.doc.root, "ключ");
	if (!ok(p != NULL, "a non-ASCII key is found"))
		return;
	is(p->key.pos.end_column, 5, "columns count code points");
	is(p->value.pos.column, 7, "the value's column");
	const struct doc_node *inner = doc_get(&p->value.items[1], "b");
	is(inner->pos.column, 15, "a nested value's column");
	is(inner->pos.end_column, 18, "and its end");
	const struct doc_node *list = doc_get(r.doc.root, "x");
	is(list->items[0].pos.line, 3, "a block scalar's line");
	is(list->items[1].pos.line, 5, "the next item's line");
	ok(!doc_get(r.doc.root, "nothing"), "an absent key");
	ok(!doc_get(list, "x"), "a list has no keys");
	reading_done(&r);
}

int main(void)
{
	test_scalars();
	test_strings();
	test_refusals();
	test_bytes();
	test_all_at_once();
	test_positions();
	return tap_done();
}
