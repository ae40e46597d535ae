/* The TOML reader: values, tables, refusals, positions. */
#include "schema_kit.h"

static void test_values(void)
{
	expect_json("a.toml",
		"a = 1\nb = +7\nc = -0\nd = 1_000\ne = 0xdead_beef\nf = 0o17\ng = 0b11\n",
		"{\"a\":1,\"b\":7,\"c\":0,\"d\":1000,\"e\":3735928559,\"f\":15,\"g\":3}");
	expect_json("a.toml", "a = 1.5\nb = -1e3\nc = 1_0.0_1e+1_0\n",
		"{\"a\":1.5,\"b\":-1000.0,\"c\":100100000000.0}");
	expect_json("a.toml", "a = true\nb = [false, 1,\n # c\n 'x', ]",
		"{\"a\":true,\"b\":[false,1,\"x\"]}");
	expect_json("a.toml", "", "{}");
}

static void test_strings(void)
{
	expect_json("a.toml", "a = \"\\u00e9\\U0001f600\\t\\\"\"\nb = 'C:\\x'",
		"{\"a\":\"é😀\\t\\\"\",\"b\":\"C:\\\\x\"}");
	expect_json("a.toml", "a = \"\"\"\nx\n  y\"\"\"", "{\"a\":\"x\\n  y\"}");
	expect_json("a.toml", "a = \"\"\"x \\\n\n   y\"\"\"", "{\"a\":\"x y\"}");
	expect_json("a.toml", "a = \"\"\"\"q\"\"\"\"\"", "{\"a\":\"\\\"q\\\"\\\"\"}");
	expect_json("a.toml", "a = '''\n\\n ''x'''", "{\"a\":\"\\\\n ''x\"}");
	expect_json("a.toml", "a = \"\"\nb = ''\nc = \"\"\"\"\"\"",
		"{\"a\":\"\",\"b\":\"\",\"c\":\"\"}");
}

static void test_tables(void)
{
	expect_json("a.toml", "a.b.c = 1\na.d = 2\n[x]\ny = 1\n[x.z]\n[p.q]\n[p]\nr = 1\n",
		"{\"a\":{\"b\":{\"c\":1},\"d\":2},\"x\":{\"y\":1,\"z\":{}},\"p\":{\"q\":{},\"r\":1}"
		"}");
	expect_json("a.toml", "[[a]]\nb = 1\n[[a]]\n[a.c]\nd = 2\n",
		"{\"a\":[{\"b\":1},{\"c\":{\"d\":2}}]}");
	expect_json("a.toml", "a = { b.c = 1, 'd e' = {}, f = [{g = 1}] }",
		"{\"a\":{\"b\":{\"c\":1},\"d e\":{},\"f\":[{\"g\":1}]}}");
	expect_json("a.toml", "\"a.b\".'c' = 1\n1234 = 2\n", "{\"a.b\":{\"c\":1},\"1234\":2}");
}

static void test_twice(void)
{
	expect_findings("a.toml", "a = 1\na = 2", "2:1-2:2 duplicate-key");
	expect_findings("a.toml", "[a]\nb = 1\n[a]\nb = 2", "3:2-3:3 duplicate-key");
	expect_findings("a.toml", "a = {b = 1}\n[a.c]", "2:2-2:3 duplicate-key");
	expect_findings("a.toml", "a = {b = 1}\na.c = 2", "2:1-2:2 duplicate-key");
	expect_findings("a.toml", "a.b = 1\n[a]", "2:2-2:3 duplicate-key");
	expect_findings("a.toml", "[a.b]\n[a]\nb.c = 1", "3:1-3:2 duplicate-key");
	expect_findings("a.toml", "a = []\n[[a]]", "2:3-2:4 duplicate-key");
	expect_findings("a.toml", "[[a]]\n[a]", "2:2-2:3 duplicate-key");
	expect_findings("a.toml", "[a]\n[[a]]", "2:3-2:4 duplicate-key");
	expect_findings("a.toml", "a = 1\na.b = 2\nc = 3\nc = 4",
		"2:1-2:2 duplicate-key\n4:1-4:2 duplicate-key");
}

static void test_refusals(void)
{
	expect_findings("a.toml",
		"a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00\nc = 07:32:00\n",
		"1:5-1:25 toml-date\n2:5-2:24 toml-date\n3:5-3:13 toml-date");
	expect_findings("a.toml", "a = [inf, -nan, 1e999]",
		"1:6-1:9 not-finite\n1:11-1:15 not-finite\n1:17-1:22 not-finite");
	expect_findings("a.toml", "a = 9223372036854775808\nb = 0xffffffffffffffff\n",
		"1:5-1:24 integer-range\n2:5-2:23 integer-range");
	expect_findings("a.toml", "a = \"\\u0000\"\nb = \"\\ud800\"\nc = \"\\U0000dfff\"",
		"1:5-1:13 nul-character\n2:5-2:13 lone-surrogate\n3:5-3:17 lone-surrogate");
	expect_json("a.toml", "a = \"\\ud7ff\\ue000\\U0010FFFF\"",
		"{\"a\":\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"}");
	expect_findings("a.toml", "a = \"\\U00110000\"", "1:16-1:17 toml-syntax");
}

static void test_syntax(void)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{"a", "1:2"},
		{"a =", "1:4"},
		{"= 1", "1:1"},
		{"a = 1 b = 2", "1:7"},
		{"[a", "1:3"},
		{"[a] b = 1", "1:5"},
		{"[[a]", "1:4"},
		{"[]", "1:2"},
		{"a = [1", "1:7"},
		{"a = [,1]", "1:6"},
		{"a = {b = 1,}", "1:12"},
		{"a = {b = 1\n}", "1:11"},
		{"a = 01", "1:5"},
		{"a = 1__0", "1:5"},
		{"a = 1.", "1:5"},
		{"a = .5", "1:5"},
		{"a = 0xg", "1:5"},
		{"a = +0x1", "1:5"},
		{"a = hello", "1:5"},
		{"a = \"x", "1:7"},
		{"a = \"x\ny\"", "1:7"},
		{"a = \"\\q\"", "1:7"},
		{"a = \"\"\"x", "1:9"},
		{"a.\"b\nc\" = 1", "1:5"},
		{"a = 2021-02-29", "1:5"},
		{"a = 24:00:00", "1:5"},
		{"a = \"\\U00110000\"", "1:16"},
		{"a = 1\r", "1:6"},
		{"\"\"\"a\"\"\" = 1", "1:3"},
		{"a = 'x'y", "1:8"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading r;
		reading_init(&r, "a.toml", cases[i].text);
		is(r.rc, -1, "refused: %s", cases[i].text);
		const char *lines = reading_lines(&r);
		ok(!strncmp(lines, cases[i].place, strlen(cases[i].place)) &&
				strstr(lines, "toml-syntax"),
			"at %s: %s (%s)", cases[i].place, cases[i].text, lines);
		reading_done(&r);
	}
}

static void test_positions(void)
{
	struct reading r;
	reading_init(&r, "a.toml", "[key.\"ü\"]\nx = [ 'é', 2 ]\n[[l]]\n[l.m]\n");
	const struct doc_pair *outer = doc_pair(r.doc.root, "key");
	const struct doc_pair *inner = outer ? doc_pair(&outer->value, "ü") : NULL;
	const struct doc_node *x = inner ? doc_get(&inner->value, "x") : NULL;
	if (!ok(x && x->count == 2, "the list is there"))
		return;
	is(inner->key.pos.column, 6, "a header's part");
	is(inner->key.pos.end_column, 9, "and its end");
	is(x->items[1].pos.column, 12, "columns count code points");
	const struct doc_node *list = doc_get(r.doc.root, "l");
	is(list->items[0].pos.line, 3, "a table of a list");
	is(doc_pair(&list->items[0], "m")->key.pos.line, 4, "a table below it");
	reading_done(&r);
}

int main(void)
{
	test_values();
	test_strings();
	test_tables();
	test_twice();
	test_refusals();
	test_syntax();
	test_positions();
	return tap_done();
}
