/* contract: facts are read and written as the journal's schema says, member by member, and every
 * recorded fact is the same after decoding and encoding. */
#include "base/json.h"
#include "contract/fact.h"
#include "contract/fact_table.h"
#include "tests/kit/journals.h"
#include "tests/kit/members.h"
#include "tests/kit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
	const char *name; /* among the schema's $defs */
	struct member members[24];
} kinds[] = {{"tool_fact", {FACT_TOOL_MEMBERS(MEMBER)}},
	{"not_run_fact", {FACT_NOT_RUN_MEMBERS(MEMBER)}},
	{"agent_fact", {FACT_AGENT_MEMBERS(MEMBER) SPEND_MEMBERS}},
	{"wait_fact", {FACT_WAIT_MEMBERS(MEMBER)}}, {"branch_fact", {FACT_BRANCH_MEMBERS(MEMBER)}},
	{"visits_fact", {FACT_VISITS_MEMBERS(MEMBER)}}};

static void test_schema(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/schema/journal.schema.json", getenv("AGENT6_SRC"));
	json_auto_t *schema = json_load_file(path, 0, NULL);
	const json_t *defs = json_object_get(schema, "$defs");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		members_same(schema, json_object_get(defs, kinds[i].name), kinds[i].name,
			kinds[i].members);
}

static void comes_back(const char *file, const json_t *json)
{
	AUTO_FACT fact;
	struct err e = ERR_NONE;
	AUTO_FREE char *was = json_text(json);
	ok(!fact_decode(json, &fact, &e) && fact.kind != FACT_NONE, "%s: a fact", file);
	json_auto_t *back = fact_encode(&fact);
	AUTO_FREE char *is = json_text(back);
	is_str(is, was, "and it comes back");
}

static size_t facts;

static void check_line(const char *file, json_t *line)
{
	const json_t *fact = json_object_get(line, "fact");
	if (fact)
		comes_back(file, fact);
	facts += !!fact;
}

static void test_recorded(void)
{
	journals_each(check_line);
	ok(facts > 30, "there were %zu", facts);
}

/* A member of a wrong type is left out; without a needed member there is no fact. */
static void test_broken(void)
{
	static const struct {
		const char *json;
		enum fact_kind kind;
	} rows[] = {{"null", FACT_NONE}, {"[]", FACT_NONE}, {"{}", FACT_NONE},
		{"{\"exit\":0}", FACT_NONE}, {"{\"timed_out\":0,\"stdout\":\"\"}", FACT_NONE},
		{"{\"timed_out\":false}", FACT_NONE},
		{"{\"timed_out\":false,\"stdout\":\"\",\"exit\":\"0\"}", FACT_TOOL},
		{"{\"outcome\":\"won\"}", FACT_NONE}, {"{\"outcome\":\"ok\"}", FACT_AGENT},
		{"{\"woke_by\":\"bell\"}", FACT_NONE}, {"{\"woke_by\":\"poke\"}", FACT_WAIT},
		{"{\"clause\":\"1\"}", FACT_NONE}, {"{\"not_run\":null}", FACT_NONE},
		{"{\"not_run\":\"why\",\"more\":1}", FACT_NOT_RUN}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FACT fact;
		struct err e = ERR_NONE;
		json_auto_t *json = json_loads(rows[i].json, JSON_DECODE_ANY, NULL);
		int rc = fact_decode(json, &fact, &e);
		is(fact.kind, rows[i].kind, "%s", rows[i].json);
		is(rc, rows[i].kind == FACT_AGENT ? -1 : 0, "and only a spending is refused");
		if (fact.kind == FACT_TOOL)
			ok(!fact.tool.exit.known, "an exit status that is a text is none");
	}
}

int main(void)
{
	test_schema();
	test_recorded();
	test_broken();
	return tap_done();
}
