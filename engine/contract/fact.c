#include "contract/fact.h"

#include "base/json.h"
#include "contract/fact_table.h"
#include "contract/row.h"

#include <stddef.h>
#include <string.h>

#define ROW(type, when, name, member) {ROW_##type, ROW_##when, name, offsetof(struct fact, member)},
static const struct row tool_rows[] = {FACT_TOOL_MEMBERS(ROW){.name = NULL}},
			not_run_rows[] = {FACT_NOT_RUN_MEMBERS(ROW){.name = NULL}},
			agent_rows[] = {FACT_AGENT_MEMBERS(ROW){.name = NULL}},
			wait_rows[] = {FACT_WAIT_MEMBERS(ROW){.name = NULL}},
			branch_rows[] = {FACT_BRANCH_MEMBERS(ROW){.name = NULL}},
			visits_rows[] = {FACT_VISITS_MEMBERS(ROW){.name = NULL}};

static const struct row *const rows_of[] = {[FACT_TOOL] = tool_rows,
	[FACT_NOT_RUN] = not_run_rows,
	[FACT_AGENT] = agent_rows,
	[FACT_WAIT] = wait_rows,
	[FACT_BRANCH] = branch_rows,
	[FACT_VISITS] = visits_rows};

/* Finds the kind by the member that only this kind has. */
static enum fact_kind kind_of(const json_t *from)
{
	static const struct {
		const char *member;
		enum fact_kind kind;
	} marks[] = {{"not_run", FACT_NOT_RUN}, {"outcome", FACT_AGENT}, {"woke_by", FACT_WAIT},
		{"clause", FACT_BRANCH}, {"visits", FACT_VISITS}, {"timed_out", FACT_TOOL}};
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (json_object_get(from, marks[i].member))
			return marks[i].kind;
	return FACT_NONE;
}

int fact_decode(const json_t *from, struct fact *out, struct err *e)
{
	enum fact_kind kind = kind_of(from);
	*out = (struct fact){.kind = kind};
	for (const struct row *row = rows_of[kind]; row && row->name; row++)
		if (!row_read(row, json_object_get(from, row->name), out) &&
			row->when == ROW_NEEDED) {
			*out = (struct fact){.kind = FACT_NONE};
			return 0;
		}
	out->held = json_incref((json_t *)(uintptr_t)from);
	return kind == FACT_AGENT ? spend_decode(from, &out->agent.spend, e) : 0;
}

json_t *fact_encode(const struct fact *fact)
{
	json_t *out = fact->kind == FACT_AGENT ? spend_encode(&fact->agent.spend) : json_object();
	for (const struct row *row = rows_of[fact->kind]; row && row->name; row++)
		row_write(row, fact, out);
	return out;
}

void fact_done(struct fact *fact)
{
	json_decref(fact->held);
	*fact = (struct fact){.kind = FACT_NONE};
}

/* Keeps `value` in a list, after the values that were held before: the first is the object that the
 * fact was decoded from. */
json_t *fact_hold(struct fact *fact, json_t *value)
{
	json_t *before = fact->held;
	fact->held = before ? json_pack("[o, o]", before, value) : json_pack("[o]", value);
	return value;
}

const char *fact_text(struct fact *fact, const char *text)
{
	return json_string_value(fact_hold(fact, json_string(text)));
}
