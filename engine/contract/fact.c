#include "contract/fact.h"

#include "base/json.h"
#include "contract/fact_table.h"

#include <stddef.h>
#include <string.h>

enum row_type {
	ROW_TEXT,    /* const char * */
	ROW_NUMBER,  /* struct fact_number */
	ROW_COUNT,   /* int64_t */
	ROW_FLAG,    /* bool */
	ROW_OBJECT,  /* json_t * */
	ROW_LIST,    /* json_t * */
	ROW_OUTCOME, /* enum outcome */
	ROW_WAKER,   /* enum waker */
};
enum row_when { ROW_NEEDED, ROW_ALWAYS, ROW_ELSE };

struct row {
	enum row_type type;
	enum row_when when;
	const char *name; /* NULL: after the last */
	size_t at;
};

#define ROW(type, when, name, member) {ROW_##type, ROW_##when, name, offsetof(struct fact, member)},
static const struct row tool_rows[] = {FACT_TOOL_MEMBERS(ROW){.name = NULL}},
			not_run_rows[] = {FACT_NOT_RUN_MEMBERS(ROW){.name = NULL}},
			agent_rows[] = {FACT_AGENT_MEMBERS(ROW){.name = NULL}},
			wait_rows[] = {FACT_WAIT_MEMBERS(ROW){.name = NULL}},
			branch_rows[] = {FACT_BRANCH_MEMBERS(ROW){.name = NULL}};

static const struct row *const rows_of[] = {[FACT_TOOL] = tool_rows,
	[FACT_NOT_RUN] = not_run_rows,
	[FACT_AGENT] = agent_rows,
	[FACT_WAIT] = wait_rows,
	[FACT_BRANCH] = branch_rows};

/* Stores a member's value at `at`. Returns false if it is not of the row's type; the member then
 * stays as it is. */
static bool read_value(const struct row *row, json_t *value, void *at)
{
	const char *text = json_string_value(value);
	json_int_t number = json_integer_value(value);
	switch (row->type) {
	case ROW_TEXT: *(const char **)at = text; return text;
	case ROW_NUMBER:
		*(struct fact_number *)at = (struct fact_number){json_is_integer(value), number};
		return json_is_integer(value);
	case ROW_COUNT: *(int64_t *)at = number; return json_is_integer(value);
	case ROW_FLAG: *(bool *)at = json_is_true(value); return json_is_boolean(value);
	case ROW_OBJECT:
		*(json_t **)at = json_is_object(value) ? value : NULL;
		return json_is_object(value);
	case ROW_LIST:
		*(json_t **)at = json_is_array(value) ? value : NULL;
		return json_is_array(value);
	case ROW_OUTCOME:
		*(enum outcome *)at = outcome_find(text);
		return outcome_find(text) != OUTCOME_COUNT;
	case ROW_WAKER:
		*(enum waker *)at = waker_find(text);
		return waker_find(text) != WAKER_COUNT;
	}
	return false;
}

/* Returns the value of a member, a new reference. NULL: the member has none. */
static json_t *write_value(const struct row *row, const void *at)
{
	const struct fact_number *number = at;
	const char *text = row->type == ROW_TEXT ? *(const char *const *)at : NULL;
	switch (row->type) {
	case ROW_TEXT: return text ? json_string(text) : NULL;
	case ROW_NUMBER: return number->known ? json_integer(number->value) : NULL;
	case ROW_COUNT:
		return *(const int64_t *)at || row->when != ROW_ELSE
			       ? json_integer(*(const int64_t *)at)
			       : NULL;
	case ROW_FLAG:
		return *(const bool *)at || row->when != ROW_ELSE ? json_boolean(*(const bool *)at)
								  : NULL;
	case ROW_OBJECT:
	case ROW_LIST: return json_incref(*(json_t *const *)at);
	case ROW_OUTCOME: return json_string(outcome_name(*(const enum outcome *)at));
	case ROW_WAKER: return json_string(waker_name(*(const enum waker *)at));
	}
	return NULL;
}

/* Finds the kind by the member that only this kind has. */
static enum fact_kind kind_of(const json_t *from)
{
	static const struct {
		const char *member;
		enum fact_kind kind;
	} marks[] = {{"not_run", FACT_NOT_RUN}, {"outcome", FACT_AGENT}, {"woke_by", FACT_WAIT},
		{"clause", FACT_BRANCH}, {"timed_out", FACT_TOOL}};
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
		if (!read_value(row, json_object_get(from, row->name), (char *)out + row->at) &&
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
	for (const struct row *row = rows_of[fact->kind]; row && row->name; row++) {
		json_t *value = write_value(row, (const char *)fact + row->at);
		if (value || row->when != ROW_ELSE)
			json_object_set_new(out, row->name, value ? value : json_null());
	}
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
