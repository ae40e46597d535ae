/* contract: facts are read and written as the journal's schema says, member by member, and every
 * recorded fact is the same after decoding and encoding. */
#include "base/json.h"
#include "contract/fact.h"
#include "contract/fact_table.h"
#include "tests/kit/tap.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
	const char *type, *when, *name;
};
#define MEMBER(type, when, name, member) {#type, #when, name},
#define SPEND_MEMBERS                                                                              \
	{"COUNT", "ALWAYS", "input_tokens"}, {"COUNT", "ALWAYS", "output_tokens"},                 \
		{"COUNT", "ALWAYS", "cached_tokens"}, {"USD", "ALWAYS", "usd"},                    \
		{"FLAG", "ELSE", "unmetered"},

static const struct kind {
	const char *name; /* among the schema's $defs */
	struct member members[24];
} kinds[] = {{"tool_fact", {FACT_TOOL_MEMBERS(MEMBER)}},
	{"not_run_fact", {FACT_NOT_RUN_MEMBERS(MEMBER)}},
	{"agent_fact", {FACT_AGENT_MEMBERS(MEMBER) SPEND_MEMBERS}},
	{"wait_fact", {FACT_WAIT_MEMBERS(MEMBER)}}, {"branch_fact", {FACT_BRANCH_MEMBERS(MEMBER)}}};

/* Returns the first type that the schema gives a member, through a $ref and past null. */
static const char *type_in(const json_t *defs, const json_t *property)
{
	const char *ref = json_string_value(json_object_get(property, "$ref"));
	const json_t *type, *any = json_object_get(property, "anyOf");
	if (ref)
		property = json_object_get(defs, ref + strlen("#/$defs/"));
	if (any)
		return type_in(defs, json_array_get(any, 0));
	type = json_object_get(property, "type");
	if (json_object_get(property, "enum"))
		return "enum";
	if (json_is_true(json_object_get(property, "const")))
		return "boolean";
	return json_string_value(json_is_array(type) ? json_array_get(type, 0) : type);
}

static const char *type_of(const char *row)
{
	static const char *const types[][2] = {{"TEXT", "string"}, {"NUMBER", "integer"},
		{"COUNT", "integer"}, {"FLAG", "boolean"}, {"OBJECT", "object"}, {"LIST", "array"},
		{"OUTCOME", "enum"}, {"WAKER", "enum"}, {"USD", "number"}};
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(types[i][0], row))
			return types[i][1];
	return "?";
}

static bool is_required(const json_t *def, const char *name)
{
	size_t i;
	const json_t *one;
	json_array_foreach (json_object_get(def, "required"), i, one)
		if (!strcmp(json_string_value(one), name))
			return true;
	return false;
}

static void same_members(const json_t *defs, const struct kind *kind)
{
	const json_t *def = json_object_get(defs, kind->name);
	const json_t *properties = json_object_get(def, "properties");
	size_t count = 0;
	for (const struct member *m = kind->members; m->name; m++, count++) {
		const json_t *property = json_object_get(properties, m->name);
		ok(property, "%s.%s is in the schema", kind->name, m->name);
		is_str(type_in(defs, property), type_of(m->type), "%s.%s is of its type",
			kind->name, m->name);
		is(is_required(def, m->name), strcmp(m->when, "ELSE") != 0,
			"%s.%s is always there as the schema says", kind->name, m->name);
	}
	is(json_object_size(properties), count, "%s has no other member", kind->name);
}

static void test_schema(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/schema/journal.schema.json", getenv("AGENT6_SRC"));
	json_auto_t *schema = json_load_file(path, 0, NULL);
	const json_t *defs = json_object_get(schema, "$defs");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		same_members(defs, &kinds[i]);
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

static void test_recorded(void)
{
	char pattern[4096];
	glob_t found;
	size_t facts = 0;
	snprintf(pattern, sizeof(pattern), "%s/tests/golden/journals/*/journal.jsonl",
		getenv("AGENT6_SRC"));
	if (glob(pattern, 0, NULL, &found))
		bail("no recorded journal");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		json_t *line;
		FILE *file = fopen(found.gl_pathv[i], "r");
		while (file && (line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
			const json_t *fact = json_object_get(line, "fact");
			if (fact)
				comes_back(found.gl_pathv[i] + strlen(pattern) - 15, fact);
			facts += !!fact;
			json_decref(line);
		}
		if (file)
			fclose(file);
	}
	globfree(&found);
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
