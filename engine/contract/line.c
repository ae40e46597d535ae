#include "contract/line.h"

#include "base/json.h"
#include "contract/line_table.h"
#include "contract/row.h"

#include <stddef.h>

#define ROW(type, when, name, member) {ROW_##type, ROW_##when, name, offsetof(struct line, member)},
#define X(type, text)                                                                              \
	[LINE_##type] = (const struct row[]){LINE_##type##_MEMBERS(ROW){.name = NULL}},
static const struct row *const rows_of[] = {JOURNAL_LINES(X)};
#undef X

static bool has_fact(enum line_type type)
{
	return type == LINE_STEP || type == LINE_RETRY;
}

static int decode_spending(const json_t *from, struct line *out, struct err *e)
{
	if (has_fact(out->type))
		return fact_decode(json_object_get(from, "fact"), &out->fact, e);
	return out->type == LINE_SPEND ? spend_decode(from, &out->spend, e) : 0;
}

int line_decode(const json_t *from, struct line *out, struct err *e)
{
	const json_t *seq = json_object_get(from, "seq");
	const char *type_text = json_get_text(from, "t");
	enum line_type type = line_type_find(type_text);
	*out = (struct line){.type = type,
		.type_text = type_text,
		.ts = json_get_text(from, "ts"),
		.seq = json_is_integer(seq) ? json_integer_value(seq) : -1,
		.state = json_get_text(from, "state"),
		.label = "",
		.held = json_incref((json_t *)(uintptr_t)from)};
	if (type == LINE_TYPE_COUNT)
		return 0;
	for (const struct row *row = rows_of[type]; row->name; row++)
		if (!row_read(row, json_object_get(from, row->name), out) &&
			row->type == ROW_TEXT && row->when == ROW_NEEDED)
			*(const char **)((char *)out + row->at) = "";
	return decode_spending(from, out, e)
		       ? err_wrap(e, "%s, seq %lld", type_text, (long long)out->seq)
		       : 0;
}

json_t *line_encode(const struct line *line)
{
	json_t *out = line->type == LINE_SPEND ? spend_encode(&line->spend) : json_object();
	json_object_set_new(out, "t", json_string(line_type_name(line->type)));
	json_object_set_new(out, "ts", json_string(line->ts));
	json_object_set_new(out, "seq", json_integer(line->seq));
	for (const struct row *row = rows_of[line->type]; row->name; row++)
		row_write(row, line, out);
	if (has_fact(line->type))
		json_object_set_new(out, "fact", fact_encode(&line->fact));
	return out;
}

void line_done(struct line *line)
{
	fact_done(&line->fact);
	json_decref(line->held);
	*line = (struct line){.type = LINE_TYPE_COUNT};
}
