/* Conditions: what they evaluate to, and where they stop. */
#include "base/json.h"
#include "machine/blackboard.h"
#include "machine/predicate.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

static const char head[] = "machine: m\nversion: 1\ninitial: s\nbudget: {max_transitions: 9}\n"
			   "vars:\n"
			   "  code:\n"
			   "    n: {type: int, default: 3}\n"
			   "    big: {type: int, default: 9007199254740993}\n"
			   "    low: {type: int, default: -9223372036854775808}\n"
			   "    f: {type: float, default: 0.5}\n"
			   "    whole: {type: float, default: 3}\n"
			   "    s: {type: str, default: \"caf\\u00e9\"}\n"
			   "    empty: {type: str, default: \"\"}\n"
			   "    t: {type: bool, default: true}\n"
			   "    l: {type: 'list[str]', default: [a, b]}\n"
			   "    same: {type: 'list[str]', default: [a, b]}\n"
			   "    other: {type: 'list[str]', default: [b, a]}\n"
			   "    li: {type: 'list[int]', default: [1, 2]}\n"
			   "    j: {type: json, default: {k: [1, {x: 2.0}], s: abc}}\n"
			   "    arr: {type: json, default: [1, two, null]}\n"
			   "    num: {type: json, default: 7}\n"
			   "    nul: {type: json, default: null}\n"
			   "    v: {type: rec, default: {label: a, inner: {why: w}}}\n"
			   "    w: {type: rec, default: {label: a, inner: {why: w}}}\n"
			   "    is: {type: int, default: 1}\n"
			   "    x: {type: rec, default: {label: a, inner: {why: other}}}\n"
			   "    y: {type: rec, default: {label: a, note: w}}\n"
			   "    z: {type: rec, default: {label: a}}\n"
			   "schemas:\n"
			   "  rec: {label: str, note: {type: str, optional: true}, inner: {type: "
			   "deep, optional: true}}\n"
			   "  deep: {why: str, more: {type: str, optional: true}}\n"
			   "states:\n"
			   "  d: {kind: terminal, status: ok, reason: r}\n"
			   "  s:\n"
			   "    kind: branch\n"
			   "    when:\n";

static void add_clause(struct buf *buf, const char *condition)
{
	buf_adds(buf, "      - {goto: d, if: ");
	json_auto_t *text = json_string(condition);
	json_write(buf, text);
	buf_adds(buf, "}\n");
}

static const struct {
	const char *condition;
	int want; /* -1: halts */
} table[] = {
	{"n == 3", 1},
	{"n == 3.0", 1},
	{"n != 3.5", 1},
	{"1 <= n < 5", 1},
	{"1 <= n < 3", 0},
	{"1 < 2 > 0 == 0", 1},
	{"n == whole", 1},
	{"whole in [1, 3]", 1},
	/* 2^53 + 1 is no double: a comparison through doubles would call these equal. */
	{"big == 9007199254740992.0", 0},
	{"big > 9007199254740992.0", 1},
	{"big < 9007199254740994.0", 1},
	{"9007199254740992.0 < big", 1},
	{"big == 9007199254740993", 1},
	{"low == -9223372036854775808", 1},
	{"low == -9223372036854775808.0", 1},
	{"low >= -9223372036854777856.0", 1},
	{"-low == 9223372036854775808.0", 1},
	{"-low > 9223372036854775807", 1},
	{"9223372036854775807 < 9223372036854775808.0", 1},
	{"low < -1e300", 0},
	{"low > -1e300", 1},
	{"n < 1e300", 1},
	{"-n == -3 and +n == 3 and --n == 3", 1},
	{"f == 0.5 and f < 1 and 0 < f", 1},
	{"f > 0.75 or f >= 0.75 or 0.25 > f or f < 0.5 or f > 0.5 or f != 0.5", 0},
	{"f < 0.75 and f <= 0.5 and f >= 0.5 and 0.25 < f", 1},
	{"n < 3 or n > 3 or n < 2.5 or n > 3.5 or n == 2.5", 0},
	{"3 > f", 1},
	{"not t", 0},
	{"not not t", 1},
	{"t == true and t != false and t == True", 1},
	{"not n == 4", 1},
	{"t and n == 3 or v.note == 'x'", 1},
	{"not t and v.note == 'x'", 0},
	{"v.note == 'x'", -1},
	{"t and v.note == 'x'", -1},
	{"has(v.note) and v.note == 'x'", 0},
	{"has(v.label) and has(v) and has(v.inner.why)", 1},
	{"has(v.inner.more)", 0},
	{"v.inner.more == ''", -1},
	{"s == 'caf\\u00e9' and s == \"caf\\xe9\" and s == 'caf\\xE9'", 1},
	{"'\\ud7ff\\ue000\\uABCD\\x7E' == '\xed\x9f\xbf\xee\x80\x80\xea\xaf\x8d~'", 1},
	{"len(s) == 4 and len(empty) == 0 and len('ab') == 2", 1},
	{"'af' in s and '' in s and 'x' not in s", 1},
	{"'a' == 'ab' or 'ab' == 'a' or 'a' in ['ab'] or s == ''", 0},
	{"s < 'd' and s > 'cafe' and 'a' < 'ab'", 1},
	{"'ab' > 'a' and 'a' <= 'a' and 'a' >= 'a' and 'b' > 'ab' and '' < 'a'", 1},
	{"'ab' < 'a' or 'a' < 'a' or 'a' > 'a' or 'ab' > 'b' or '' > 'a'", 0},
	{"'a' in l and 'c' not in l", 1},
	{"s in ('caf\\u00e9', 'x') and n in (1, 3,) and n not in [-3, +4]", 1},
	{"n in []", 0},
	{"2.0 in li and 3 not in li", 1},
	{"l == ['a', 'b'] and l != ['a'] and ['a', 'b'] == l", 1},
	{"li == [1.0, 2]", 1},
	{"l == same and l != other and arr != j", 1},
	{"[1, 'a'] == (1.0, 'a') and [1] != [1, 2] and [1] != [2]", 1},
	{"-f == -0.5 and -f < 0", 1},
	{"len(l) == 2 and len([1, 2, 3]) == 3 and len(v) == 2", 1},
	{"v == w", 1},
	{"v == x or v == y or v == z or z == y", 0},
	{"v != x and x != y and y != z and z != x", 1},
	{"'k' in j and 'z' not in j", 1},
	{"1 in arr and 'two' in arr and null in arr and 2 not in arr", 1},
	{"'s' in num", -1},
	{"num not in nul", -1},
	{"'s' in nul", -1},
	{"t or 's' in num", 1},
	{"n == 0x3 and n == 0o3 and n == 0x03 and 0xfF == 255 and 0o17 == 15", 1},
	{"n in [0x2, 0o3] and n != -0x3 and -n == -0o3", 1},
	{"9223372036854775807 == 0x7fffffffffffffff and low == -0x8000000000000000", 1},
	{"\t n\n==\t3 ", 1},
	{"num == 7 and num == 7.0 and num != '7' and num != true", 1},
	{"nul == null and num != null", 1},
	{"arr == [1, 'two', null] and arr != [1]", 1},
	{"len(j) == 2 and len(arr) == 3", 1},
	{"len(num) == 1", -1},
	{"len(nul) == 0", -1},
	{"n", 1},
	{"empty or 0 or 0.0 or null or []", 0},
	{"j and arr and l and v", 1},
	{"f and -f and -0.5 and not -0.0", 1},
	{"'a' == 'a' == 'a'", 1},
	{"'\\n\\t\\r\\\\\\'\\\"' == \"\\n\\t\\r\\\\'\\\"\"", 1},
	{"is == 1 and v.label in ['a']", 1},
	{"1e3 == 1000 and 1E-1 == 0.1 and 2.5e+1 == 25", 1},
};

static void evaluate(void)
{
	struct fixture f;
	AUTO_BUF yaml;
	buf_init(&yaml, 1 << 20);
	buf_adds(&yaml, head);
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		add_clause(&yaml, table[i].condition);
	buf_adds(&yaml, "      - {goto: d, else: true}\n");
	fixture_init(&f, yaml.data);
	for (size_t i = 0; i < f.findings.count; i++)
		if (f.findings.items[i].severity == SEVERITY_ERROR)
			diag("%u: %s", f.findings.items[i].pos.line, f.findings.items[i].message);
	if (!ok(f.m != NULL, "the conditions load")) {
		fixture_done(&f);
		return;
	}
	json_auto_t *blackboard = blackboard_new(f.m);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct err e = ERR_NONE;
		bool out = false;
		int rc = predicate_eval(f.m->initial->clauses[i].condition, blackboard, &out, &e);
		is(rc ? -1 : out, table[i].want, "%s %s", table[i].condition, e.text);
		if (!strcmp(table[i].condition, "v.note == 'x'"))
			is_str(e.text, "\"v.note\" was read, but its field \"note\" is not set",
				"why it halts");
		if (!strcmp(table[i].condition, "'s' in num"))
			is_str(e.text,
				"`in` looks in \"num\", which is an int and neither list, text "
				"nor object",
				"in what it looks");
		if (!strcmp(table[i].condition, "len(num) == 1"))
			is_str(e.text,
				"len() was asked of \"num\", which is neither text, list nor "
				"object",
				"and of what");
	}
	fixture_done(&f);
}

/* `depth` times `open`, then n == 3, then `depth` times `shut`. */
static void nested(const char *open, const char *shut, int depth, bool loads)
{
	struct fixture f;
	AUTO_BUF condition, yaml;
	buf_init(&condition, 1 << 20);
	buf_init(&yaml, 1 << 20);
	for (int i = 0; i < depth; i++)
		buf_adds(&condition, open);
	buf_adds(&condition, "n == 3");
	for (int i = 0; i < depth; i++)
		buf_adds(&condition, shut);
	buf_adds(&yaml, head);
	add_clause(&yaml, condition.data);
	buf_adds(&yaml, "      - {goto: d, else: true}\n");
	fixture_init(&f, yaml.data);
	is(f.m != NULL, loads, "%d times %s", depth, open);
	if (!loads && f.findings.count)
		is(f.findings.items[0].rule, RULE_PREDICATE_LIMIT, "as a limit");
	fixture_done(&f);
}

int main(void)
{
	evaluate();
	nested("(", ")", 64, true);
	nested("(", ")", 65, false);
	nested("not ", "", 64, true);
	nested("not ", "", 65, false);
	nested("len(", ")", 65, false);
	nested("- ", "", 64, true);
	nested("- ", "", 65, false);
	nested("not ", "", 20000, false);
	nested("(", ")", 30000, false);
	nested("(t) and ", "", 65, true);
	nested("n == 3 and ", "", 5000, true);
	nested("n == 3 and ", "", 7000, false);
	return tap_done();
}
