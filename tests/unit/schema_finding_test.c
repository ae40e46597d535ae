/* Findings: order, limits, how they are shown. */
#include "base/json.h"
#include "schema/wrap.h"
#include "schema_kit.h"

static const char *shown(struct reading *reading, struct buf *out)
{
	const struct doc *docs[] = {&reading->doc};
	findings_sort(&reading->findings);
	buf_init(out, 1 << 20);
	findings_show(
		&reading->findings, docs, 1, &(struct finding_look){.columns = WRAP_NEVER}, out);
	return out->data;
}

static void test_text(void)
{
	struct reading r;
	AUTO_BUF out;
	reading_init(&r, "a.yaml", "ok: 1\n\tkéy: &x .inf\n");
	reading_done(&r);
	reading_init(&r, "a.yaml", "é: [\t.inf, 1]\n");
	is_str(shown(&r, &out),
		"a.yaml:1:6: error[not-finite]: this is not a finite number\n"
		"     1 | é: [\t.inf, 1]\n"
		"       |     \t^^^^\n",
		"the caret stands below, behind tabs and non-ASCII characters");
	reading_done(&r);
}

/* Checks the messages for libyaml's complaints, which tell what to do. */
static void test_syntax(void)
{
	static const struct {
		const char *text, *says, *help;
	} cases[] = {
		{"a:\n\tb: 1\n", "2:1: error[yaml-syntax]: a tab stands", "indent with blanks"},
		{"a:\n  b: [1]\n    c: 2\n",
			"3:5: error[yaml-syntax]: this is indented like nothing",
			"began on line 2"},
		{"a:\n  x: 0\n  b:1\n  c: 2\n", "3:3: error[yaml-syntax]: here a key is expected",
			"write `key: value`"},
		{"a: b: c\n", "1:5: error[yaml-syntax]: a `: ` stands where no key can end",
			"needs quotes"},
		{"a: \"b\" c\n", "1:8: error[yaml-syntax]: here a new line and a key are expected",
			"quote all of it"},
		{"a: \"b\nc: \"d\"\n",
			"1:4: error[yaml-syntax]: the text that begins here ends at the "
			"quote on line 2, and more text follows it",
			"inside it, write \\\" for a \""},
		{"a: ['b]\nc: 'd'\n", "1:5: error[yaml-syntax]: the text that begins here ends",
			"inside it, write '' for a '"},
		{"a: 'it's b'\n", "1:8: error[yaml-syntax]: here a new line and a key are expected",
			"inside '...', write '' for a '"},
		{"a: {b: 'it's'}\n", "1:12: error[yaml-syntax]: a `,` or `}` is missing",
			"inside '...', write '' for a '"},
		{"a: \"b \"c\" d\"\n", "1:8: error[yaml-syntax]: here a new line",
			"inside \"...\", write \\\" for a \""},
		{"a: 'b' c'\n", "1:8: error[yaml-syntax]: here a new line", "quote all of it"},
		{"a: ['b'c, 'd']\n", "1:8: error[yaml-syntax]: a `,` or `]` is missing", NULL},
		{"a: 'b\n", "1:4: error[yaml-syntax]: this quote is never closed", NULL},
		{"a: {b: at {{ c }}}\n", "1:11: error[yaml-syntax]: a `,` or `}` is missing",
			"put a text that holds {{ in quotes"},
		{"a: {b: c: d}\n", "1:9: error[yaml-syntax]: a `,` or `}` is missing",
			"put a text that holds `: ` in quotes"},
		{"a: {b: list[str], c: 1}\n", "1:12: error[yaml-syntax]: a `,` or `}` is missing",
			"needs quotes: \"list[str]\""},
		{"a: [{if: b in [1], c: d}]\n", "1:15: error[yaml-syntax]: a `,` or `}` is missing",
			"\"n in [1, 2]\""},
		{"a: {if: 'b' in c}\n", "1:13: error[yaml-syntax]: a `,` or `}` is missing",
			"quote all of it"},
		{"a: [{b: c} {d: e}]\n",
			"1:12: error[yaml-syntax]: a `,` or `]` is missing before this\n"
			"     1 | a: [{b: c} {d: e}]\n"
			"       |            ^\n",
			NULL},
		{"a: [1] == b\n", "1:8: error[yaml-syntax]: here a new line and a key are expected",
			"begins with [ or { needs quotes"},
		{"a: [1,\nb: 2\n", "error[yaml-syntax]: ", "began on line 1"},
		{"a: - 1\n", "1:4: error[yaml-syntax]: no item of a list can stand here",
			"on the line below its key"},
		{"a: @b\n", "1:4: error[yaml-syntax]: a text cannot begin with this character",
			"in quotes"},
		{"a: [ls, *.c]\n", "1:10: error[yaml-syntax]: a text cannot begin with `*` or `&`",
			"in quotes"},
		{"a: \"\\d\"\n",
			"1:5: error[yaml-syntax]: a double-quoted text knows no such escape",
			"write \\\\"},
		{"a: \"\\ud83d\\ude00\"\n",
			"1:7: error[yaml-syntax]: this escape names no character",
			"write the character itself"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading r;
		AUTO_BUF out;
		reading_init(&r, "a.yaml", cases[i].text);
		has_str(shown(&r, &out), cases[i].says, "case %zu says what is wrong", i);
		if (cases[i].help)
			has_str(out.data, cases[i].help, "case %zu says what to do", i);
		reading_done(&r);
	}
}

static void test_look(void)
{
	struct findings f;
	struct doc d = {.file = "machine.yaml"};
	const struct finding_look look = {.columns = 40, .colour = true};
	AUTO_BUF out;
	findings_init(&f);
	struct finding *it = finding_add(&f, RULE_WRONG_TYPE, &d, NULL, "one two three four five");
	finding_help(&f, it, "six seven eight nine ten eleven");
	buf_init(&out, 1 << 12);
	findings_show(&f, NULL, 0, &look, &out);
	is_str(out.data,
		"machine.yaml: \033[1;31merror[wrong-type]\033[0m: one two\n"
		"       three four five\n"
		"       help: six seven eight nine ten\n"
		"             eleven\n",
		"as wide as the terminal, colours not counted");
	findings_done(&f);
}

static void test_long_line(void)
{
	struct reading r;
	AUTO_BUF text, out;
	buf_init(&text, 1 << 20);
	for (int i = 0; i < 500; i++)
		buf_addf(&text, "%s\"k%03d\": %d", i ? ", " : "{", i, i);
	buf_adds(&text, ", \"k250\": 1}");
	reading_init(&r, "a.json", text.data);
	shown(&r, &out);
	ok(out.len < 500, "a long line is cut (%zu bytes)", out.len);
	const char *line = strstr(out.data, " | ..."), *caret = strchr(out.data, '^');
	if (ok(line && caret, "around the caret")) {
		const char *start = caret;
		while (start[-1] != '\n')
			start--;
		is_mem(line - 6 + (caret - start), 6, "\"k250\"", 6, "which points at the key");
	}
	reading_done(&r);
}

static void test_hostile_text(void)
{
	struct reading r;
	AUTO_BUF out;
	reading_init(&r, "a\x1b[2J.yaml", "a: \x1b[31mred\n");
	shown(&r, &out);
	ok(!strchr(out.data, '\x1b'), "no escape sequence reaches the terminal");
	has_str(out.data, "\\x1b[2J", "it is shown as an escape");
	reading_done(&r);
	reading_bytes(&r, "a.yaml", "b: \xff\xfe", 5);
	AUTO_BUF again;
	shown(&r, &again);
	has_str(again.data, "b: ??", "bytes that are no UTF-8 are replaced");
	reading_done(&r);
}

static void test_json(void)
{
	struct reading r;
	AUTO_BUF out;
	reading_init(&r, "a.yaml", "a: 1\na: \"\\0\"\n");
	findings_sort(&r.findings);
	r.findings.items[0].state = "s";
	buf_init(&out, 1 << 20);
	findings_json(&r.findings, &out);
	json_auto_t *array = json_loads(out.data, 0, NULL);
	is(json_array_size(array), 2, "an array of both");
	const json_t *first = json_array_get(array, 0), *second = json_array_get(array, 1);
	is_str(json_string_value(json_object_get(first, "rule")), "duplicate-key", "the rule");
	is_str(json_string_value(json_object_get(first, "severity")), "error", "the severity");
	is_str(json_string_value(json_object_get(first, "file")), "a.yaml", "the file");
	is_str(json_string_value(json_object_get(first, "state")), "s", "the state");
	has_str(json_string_value(json_object_get(first, "help")), "line 1", "the help");
	is(json_integer_value(json_object_get(first, "line")), 2, "the line");
	is(json_integer_value(json_object_get(first, "end_column")), 2, "the end");
	is(json_object_size(first), 10, "ten members");
	ok(json_is_null(json_object_get(second, "help")), "no help is null");
	reading_done(&r);
}

/* A path may be any bytes, and what a message quotes cut anywhere; JSON is neither. */
static void test_json_of_bytes(void)
{
	struct findings f;
	struct doc d = {.file = "\xff/machine.yaml"};
	AUTO_BUF out;
	findings_init(&f);
	buf_init(&out, 1 << 20);
	finding_at(&f, RULE_WRONG_TYPE, &d, (struct doc_pos){1, 1, 1, 2}, "`%.2s` is wrong",
		"a\xc3\xa9");
	findings_json(&f, &out);
	json_auto_t *array = json_loads(out.data, 0, NULL);
	const json_t *first = json_array_get(array, 0);
	is_str(json_string_value(json_object_get(first, "file")), "\\xff/machine.yaml", "the file");
	is_str(json_string_value(json_object_get(first, "message")), "`a?` is wrong", "whole");
	findings_done(&f);
}

static void test_order(void)
{
	struct findings f;
	struct doc b = {.file = "b"}, a = {.file = "a"};
	findings_init(&f);
	finding_at(&f, RULE_WRONG_TYPE, &b, (struct doc_pos){9, 1, 9, 2}, "5");
	finding_at(&f, RULE_WRONG_TYPE, &a, (struct doc_pos){1, 1, 1, 2}, "6");
	finding_at(&f, RULE_WRONG_TYPE, &b, (struct doc_pos){2, 7, 2, 8}, "2");
	finding_at(&f, RULE_WRONG_TYPE, &b, (struct doc_pos){2, 7, 2, 8}, "3");
	finding_at(&f, RULE_WRONG_TYPE, &b, (struct doc_pos){2, 9, 2, 10}, "4");
	finding_add(&f, RULE_CONFIG_NEVER_HONOURED, &b, NULL, "1");
	findings_sort(&f);
	for (size_t i = 0; i < f.count; i++) {
		char want[] = {(char)('1' + i), '\0'};
		is_str(f.items[i].message, want, "number %zu", i + 1);
	}
	is(f.errors, 5, "errors are counted");
	findings_done(&f);
}

static void test_flood(void)
{
	struct findings f;
	struct doc d = {.file = "d"};
	findings_init(&f);
	for (int i = 0; i < FINDINGS_MAX + 5; i++) {
		struct finding *it = finding_add(&f, RULE_WRONG_TYPE, &d, NULL, "%d", i);
		finding_help(&f, it, "help");
	}
	is(f.count, FINDINGS_MAX, "what is kept is limited");
	is(f.errors, FINDINGS_MAX + 5, "what is counted is not");
	AUTO_BUF out;
	buf_init(&out, 1 << 22);
	findings_show(&f, NULL, 0, &(struct finding_look){.columns = WRAP_NEVER}, &out);
	has_str(out.data, "... and 5 more", "and it is said");
	findings_done(&f);
}

/* Ids are what scripts hold on to. */
static void test_rules(void)
{
	for (int i = 0; i < RULE_COUNT; i++) {
		const struct rule_info *a = rule_info((enum rule)i);
		bool good = a->id && *a->id, unique = true;
		for (const char *p = a->id; *p; p++)
			good &= (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-';
		for (int k = 0; k < i; k++)
			unique &= strcmp(a->id, rule_info((enum rule)k)->id) != 0;
		ok(good && unique, "%s is a kebab-case id of its own", a->id);
		ok(*a->cause && *a->example && *a->fix, "%s is documented", a->id);
	}
}

int main(void)
{
	test_text();
	test_syntax();
	test_look();
	test_long_line();
	test_hostile_text();
	test_json();
	test_json_of_bytes();
	test_order();
	test_flood();
	test_rules();
	return tap_done();
}
