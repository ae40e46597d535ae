#include "base/json.h"
#include "types/types.h"

#include <math.h>

enum { TEXT_BYTES_MAX = 10 * 1024 * 1024 };

/* The largest number up to which doubles hold every integer. */
static const double whole_max = 9007199254740992.0;

static json_t *coerce(struct type t, json_t *value);

/* Returns a float without a fraction as an integer; NULL: it is none. */
static json_t *whole(const json_t *value)
{
	double real = json_real_value(value);
	bool is_whole = json_is_real(value) && fabs(real) <= whole_max && floor(real) == real;
	return is_whole ? json_integer((json_int_t)real) : NULL;
}

static bool is_of(struct type t, const json_t *value)
{
	switch (t.kind) {
	case TYPE_INT: return json_is_integer(value);
	case TYPE_FLOAT: return json_is_number(value);
	case TYPE_BOOL: return json_is_boolean(value);
	case TYPE_LIST: return json_is_array(value);
	case TYPE_RECORD: return json_is_object(value);
	case TYPE_STR:
	case TYPE_JSON: break;
	}
	return false;
}

/* Returns the JSON that a string holds where that is of the type; NULL: it is not. */
static json_t *quoted(struct type t, const json_t *value)
{
	if (!json_is_string(value) || t.kind == TYPE_STR || t.kind == TYPE_JSON)
		return NULL;
	json_auto_t *read = json_read(
		json_string_value(value), json_string_length(value), TEXT_BYTES_MAX, NULL);
	json_t *number = t.kind == TYPE_INT ? whole(read) : NULL;
	return number ? number : is_of(t, read) ? json_incref(read) : NULL;
}

/* Coerces in place what a list or a record holds: the value is a copy of our own. */
static void coerce_inside(struct type t, json_t *value)
{
	size_t i;
	json_t *item;
	if (t.kind == TYPE_LIST)
		json_array_foreach (value, i, item)
			json_array_set_new(value, i, coerce(type_item(t), item));
	for (i = 0; t.kind == TYPE_RECORD && t.record && i < t.record->field_count; i++) {
		const struct field *f = &t.record->fields[i];
		item = json_object_get(value, f->name);
		if (item)
			json_object_set_new(value, f->name, coerce(f->type, item));
	}
}

/* Returns the coerced value, a new reference. */
static json_t *coerce(struct type t, json_t *value)
{
	json_t *own = t.kind == TYPE_INT ? whole(value) : NULL;
	if (!own)
		own = quoted(t, value);
	if (!own)
		own = json_incref(value);
	if (is_of(t, own))
		coerce_inside(t, own);
	return own;
}

json_t *value_coerce(struct type t, const json_t *value)
{
	json_auto_t *copy = json_deep_copy(value);
	return copy ? coerce(t, copy) : NULL;
}
