#include "contract/row.h"

#include "contract/fact.h"
#include "contract/line.h"

#include <math.h>

static bool read_totals(const json_t *value, struct line_totals *out)
{
	out->given = json_is_object(value);
	if (out->given && totals_decode(value, &out->sum))
		out->sum = (struct totals){.transitions = -1};
	return out->given;
}

bool row_read(const struct row *row, json_t *value, void *into)
{
	void *at = (char *)into + row->at;
	const char *text = json_string_value(value);
	json_int_t number = json_integer_value(value);
	switch (row->type) {
	case ROW_TEXT: *(const char **)at = text; return text;
	case ROW_NUMBER:
		*(struct fact_number *)at = (struct fact_number){json_is_integer(value), number};
		return json_is_integer(value);
	case ROW_COUNT: *(int64_t *)at = number; return json_is_integer(value);
	case ROW_CAP:
		*(int64_t *)at = json_is_integer(value) && number >= 0 ? number : -1;
		return *(int64_t *)at >= 0;
	case ROW_REAL:
		*(double *)at = json_is_number(value) ? json_number_value(value) : NAN;
		return json_is_number(value);
	case ROW_FLAG: *(bool *)at = json_is_true(value); return json_is_boolean(value);
	case ROW_OBJECT:
		*(json_t **)at = json_is_object(value) ? value : NULL;
		return json_is_object(value);
	case ROW_LIST:
		*(json_t **)at = json_is_array(value) ? value : NULL;
		return json_is_array(value);
	case ROW_TOTALS: return read_totals(value, at);
	case ROW_OUTCOME:
		*(enum outcome *)at = outcome_find(text);
		return outcome_find(text) != OUTCOME_COUNT;
	case ROW_WAKER:
		*(enum waker *)at = waker_find(text);
		return waker_find(text) != WAKER_COUNT;
	case ROW_LEVEL:
		*(enum notify_level *)at = notify_level_find(text);
		return notify_level_find(text) != NOTIFY_LEVEL_COUNT;
	case ROW_CAUSE:
		*(enum end_cause *)at = end_cause_find(text);
		return end_cause_find(text) != END_CAUSE_COUNT;
	case ROW_STOPPER:
		*(enum stopper *)at = stopper_find(text);
		return stopper_find(text) != STOPPER_COUNT;
	}
	return false;
}

/* Returns the value of a member, a new reference. NULL: the member has none. */
static json_t *value_of(const struct row *row, const void *at)
{
	const struct fact_number *number = at;
	const struct line_totals *totals = at;
	const char *text = row->type == ROW_TEXT ? *(const char *const *)at : NULL;
	switch (row->type) {
	case ROW_TEXT: return text ? json_string(text) : NULL;
	case ROW_NUMBER: return number->known ? json_integer(number->value) : NULL;
	case ROW_COUNT:
		return *(const int64_t *)at || row->when != ROW_ELSE
			       ? json_integer(*(const int64_t *)at)
			       : NULL;
	case ROW_CAP: return *(const int64_t *)at >= 0 ? json_integer(*(const int64_t *)at) : NULL;
	case ROW_REAL: return isnan(*(const double *)at) ? NULL : json_real(*(const double *)at);
	case ROW_FLAG:
		return *(const bool *)at || row->when != ROW_ELSE ? json_boolean(*(const bool *)at)
								  : NULL;
	case ROW_OBJECT:
	case ROW_LIST: return json_incref(*(json_t *const *)at);
	case ROW_TOTALS: return totals->given ? totals_encode(&totals->sum) : NULL;
	case ROW_OUTCOME: return json_string(outcome_name(*(const enum outcome *)at));
	case ROW_WAKER: return json_string(waker_name(*(const enum waker *)at));
	case ROW_LEVEL: return json_string(notify_level_name(*(const enum notify_level *)at));
	case ROW_CAUSE: return json_string(end_cause_name(*(const enum end_cause *)at));
	case ROW_STOPPER: return json_string(stopper_name(*(const enum stopper *)at));
	}
	return NULL;
}

void row_write(const struct row *row, const void *from, json_t *out)
{
	json_t *value = value_of(row, (const char *)from + row->at);
	if (value || row->when != ROW_ELSE)
		json_object_set_new(out, row->name, value ? value : json_null());
}
