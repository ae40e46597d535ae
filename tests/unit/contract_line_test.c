/* contract: the journal's lines are read and written as its schema says, member by member, and
 * every recorded line is the same after decoding and encoding. */
#include "base/json.h"
#include "contract/line.h"
#include "contract/line_table.h"
#include "tests/kit/journals.h"
#include "tests/kit/members.h"
#include "tests/kit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_FACT {"FACT", "NEEDED", "fact"},
/* The members that are in no table: of every line, and those with a type of their own. */
#define EVERY                                                                                      \
	{"TEXT", "NEEDED", "t"}, {"TEXT", "NEEDED", "ts"}, {"COUNT", "NEEDED", "seq"},             \
		{"TEXT", "NEEDED", "h"},
#define OF(type, more) [LINE_##type] = {EVERY LINE_##type##_MEMBERS(MEMBER) more}
static const struct member lines[LINE_TYPE_COUNT][20] = {OF(BEGIN, ), OF(STEP, LINE_FACT),
	OF(RETRY, LINE_FACT), OF(ARMED, ), OF(REFUSED, ), OF(NOTIFY, ), OF(EGRESS, ), OF(AUTORUN, ),
	OF(SPEND, SPEND_MEMBERS), OF(STOP, ), OF(END, )};

/* The members of a struct totals, which has no table. */
static const struct member totals[] = {{"COUNT", "ALWAYS", "transitions"},
	{"COUNT", "ALWAYS", "input_tokens"}, {"COUNT", "ALWAYS", "output_tokens"},
	{"COUNT", "ALWAYS", "cached_tokens"}, {"USD", "ALWAYS", "usd"},
	{"FLAG", "ALWAYS", "unpriced"}, {"FLAG", "ELSE", "unmetered"}, {NULL, NULL, NULL}};

static void test_schema(void)
{
	char path[4096];
	size_t i;
	json_t *def;
	snprintf(path, sizeof(path), "%s/schema/journal.schema.json", getenv("AGENT6_SRC"));
	json_auto_t *schema = json_load_file(path, 0, NULL);
	const json_t *all = json_object_get(schema, "oneOf");
	json_array_foreach (all, i, def) {
		const json_t *t = json_object_get(json_object_get(def, "properties"), "t");
		const char *name = json_get_text(t, "const");
		enum line_type type = line_type_find(name);
		if (ok(type != LINE_TYPE_COUNT, "%s of the schema is a type", name))
			members_same(schema, def, name, lines[type]);
	}
	is(json_array_size(all), LINE_TYPE_COUNT, "and there is no other");
	members_same(schema, json_object_get(json_object_get(schema, "$defs"), "totals"), "totals",
		totals);
}

static void comes_back(const char *file, const json_t *json)
{
	AUTO_LINE line;
	struct err e = ERR_NONE;
	AUTO_FREE char *was = json_text(json);
	ok(!line_decode(json, &line, &e) && line.type != LINE_TYPE_COUNT, "%s: a line", file);
	if (line.type == LINE_TYPE_COUNT)
		return;
	json_auto_t *back = line_encode(&line);
	AUTO_FREE char *is = json_text(back);
	is_str(is, was, "and it comes back");
}

static void check_line(const char *file, json_t *line)
{
	json_object_del(line, "h"); /* the journal's own */
	comes_back(file, line);
}

static void test_recorded(void)
{
	size_t count = journals_each(check_line);
	ok(count > 60, "there were %zu", count);
}

static void decode(const char *text, struct line *line, int rc)
{
	struct err e = ERR_NONE;
	json_auto_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	is(line_decode(json, line, &e), rc, "%s", text);
	is(*e.text != 0, rc != 0, "and only a spending is refused");
}

/* A member that is missing or of a wrong type is an empty text, or a word that is none. */
static void test_broken(void)
{
	static const char *const unknown[] = {"null", "[]", "{}", "{\"t\":1}", "{\"t\":\"novel\"}"};
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		AUTO_LINE line;
		decode(unknown[i], &line, 0);
		is(line.type, LINE_TYPE_COUNT, "is no line that is known");
		is_str(line.ts, "", "without a time");
		is(line.seq, -1, "or a number");
	}
	AUTO_LINE step, end, armed, spend;
	decode("{\"t\":\"step\",\"ts\":1,\"seq\":\"1\",\"label\":null,\"fact\":[]}", &step, 0);
	is_str(step.ts, "", "a time that is no text");
	is_str(step.state, "", "a state that is missing");
	is_str(step.label, "", "a label that is null");
	is_str(step.go_to, "", "an edge that is missing");
	is(step.seq, -1, "a number that is a text");
	is(step.fact.kind, FACT_NONE, "a fact that is none");
	decode("{\"t\":\"end\",\"cause\":\"bored\",\"status\":\"OK\",\"totals\":1}", &end, 0);
	is(end.end.cause, END_CAUSE_COUNT, "an unknown cause");
	is(end.end.status, OUTCOME_COUNT, "an unknown status");
	ok(!end.end.totals.given, "totals that are none");
	decode("{\"t\":\"wait.armed\",\"wake\":null}", &armed, 0);
	ok(!armed.armed.wake && !armed.armed.totals.given, "a wait without an end, in an old line");
	AUTO_LINE odd;
	decode("{\"t\":\"wait.armed\",\"wake\":null,\"totals\":{\"usd\":0}}", &odd, 0);
	ok(odd.armed.totals.given && odd.armed.totals.sum.transitions < 0,
		"totals of a wrong form are those of no run");
	decode("{\"t\":\"spend\",\"input_tokens\":-1}", &spend, -1);
	is(spend.type, LINE_SPEND, "but it is a line");
}

int main(void)
{
	test_schema();
	test_recorded();
	test_broken();
	return tap_done();
}
