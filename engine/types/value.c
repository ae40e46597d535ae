#include "base/json.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "types/types.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* No identifier is longer than NAME_BYTES; a field's name in data may have any length. */
enum { PROBLEMS_MAX = 50, SHOWN_BYTES = 60, NAME_BYTES = 64, LINE_BYTES_MAX = 32 * 1024 };

/* The current place: a chain of stack frames, so that a path costs nothing until it is printed. */
struct value_place {
	const struct value_place *parent;
	const char *name; /* NULL: a list item */
	size_t index;
	int depth; /* containers from the top down to this value */
};

struct check {
	enum value_mode mode;
	struct buf *problems;
	size_t count;
};

static void add_place(struct buf *out, const struct value_place *place)
{
	char name[NAME_BYTES + 1];
	if (place->parent)
		add_place(out, place->parent);
	if (!place->name) {
		buf_addf(out, "[%zu]", place->index);
	} else if (*place->name) {
		utf8_copy(name, sizeof(name), place->name);
		buf_adds(out, out->len ? "." : "");
		utf8_show(out, name);
	}
}

static void PRINTF(3, 4)
	problem(struct check *check, const struct value_place *place, const char *format, ...)
{
	if (check->count++ >= PROBLEMS_MAX)
		return;
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Formatting may have cut the text inside a character. */
	utf8_copy(text, sizeof(text), text);
	AUTO_BUF line = BUF_INIT(LINE_BYTES_MAX);
	add_place(&line, place);
	buf_adds(&line, line.len ? ": " : "");
	utf8_show(&line, text);
	buf_addc(&line, '\n');
	buf_add(check->problems, line.data, line.len);
}

static const char *kind_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "a list";
	case JSON_STRING: return "a string";
	case JSON_INTEGER: return "an integer";
	case JSON_REAL: return "a float";
	case JSON_TRUE:
	case JSON_FALSE: return "a boolean";
	case JSON_NULL: break;
	}
	return "null";
}

static const char *wanted(struct type t)
{
	switch (t.kind) {
	case TYPE_STR: return "a string";
	case TYPE_INT: return "an integer";
	case TYPE_FLOAT: return "a number";
	case TYPE_BOOL: return "true or false";
	case TYPE_LIST: return "a list";
	case TYPE_JSON: return "any JSON";
	case TYPE_RECORD: break;
	}
	return "an object";
}

static bool kind_fits(struct type t, const json_t *value)
{
	switch (t.kind) {
	case TYPE_STR: return json_is_string(value);
	case TYPE_INT: return json_is_integer(value);
	case TYPE_FLOAT: return json_is_number(value);
	case TYPE_BOOL: return json_is_boolean(value);
	case TYPE_LIST: return json_is_array(value);
	case TYPE_JSON: return true;
	case TYPE_RECORD: break;
	}
	return json_is_object(value);
}

/* Checks the rule for every value, whatever its declared type. */
static void check_leaf(struct check *check, const json_t *value, const struct value_place *place)
{
	if (json_is_string(value) && strlen(json_string_value(value)) != json_string_length(value))
		problem(check, place, "the string holds a NUL character");
}

static bool too_deep(struct check *check, const json_t *value, const struct value_place *place)
{
	bool container = json_is_object(value) || json_is_array(value);
	if (!container || place->depth < JSON_DEPTH_MAX)
		return false;
	problem(check, place, "nests deeper than %d levels", JSON_DEPTH_MAX);
	return true;
}

static void check_opaque(struct check *check, const json_t *value, const struct value_place *place)
{
	check_leaf(check, value, place);
	if (too_deep(check, value, place))
		return;
	struct value_place in = {.parent = place, .depth = place->depth + 1};
	json_t *item;
	json_array_foreach ((json_t *)(uintptr_t)value, in.index, item)
		check_opaque(check, item, &in);
	json_object_foreach ((json_t *)(uintptr_t)value, in.name, item)
		check_opaque(check, item, &in);
}

static void check_enum(struct check *check, const struct constraint *constraint,
	const json_t *value, const struct value_place *place)
{
	const char *word = json_string_value(value);
	AUTO_BUF list = BUF_INIT(256);
	for (size_t i = 0; i < constraint->value_count; i++) {
		if (strcmp(constraint->values[i], word) == 0)
			return;
		buf_addf(&list, "%s\"%s\"", i ? ", " : "", constraint->values[i]);
	}
	const char *near = suggest_name(word, constraint->values, constraint->value_count);
	if (!list.failed)
		problem(check, place, "\"%.*s\" is not one of %s", SHOWN_BYTES, word, list.data);
	else
		problem(check, place, "\"%.*s\" is not one of the %zu allowed values%s%s%s",
			SHOWN_BYTES, word, constraint->value_count, near ? "; did you mean \"" : "",
			near ? near : "", near ? "\"?" : "");
}

/* Returns -1, 0 or 1 as `value` is less than, equal to or greater than the end. Integers are
 * compared as such: a double does not hold all of them. */
static int compare_to_end(const json_t *value, const struct range_end *end)
{
	if (json_is_integer(value) && end->is_integer)
		return (json_integer_value(value) > end->integer) -
		       (json_integer_value(value) < end->integer);
	double number = json_number_value(value);
	return (number > end->number) - (number < end->number);
}

static void check_end(struct check *check, const struct range_end *end, int side,
	const json_t *value, const struct value_place *place)
{
	if (!end->present || compare_to_end(value, end) * side <= 0)
		return;
	const struct range_end given = {
		true, json_is_integer(value), json_integer_value(value), json_number_value(value)};
	AUTO_BUF shown = BUF_INIT(SHOWN_BYTES), limit = BUF_INIT(SHOWN_BYTES);
	range_end_show(&given, &shown);
	range_end_show(end, &limit);
	problem(check, place, "%s is %s than %s, the %s", shown.data, side < 0 ? "less" : "more",
		limit.data, side < 0 ? "minimum" : "maximum");
}

/* Checks a value whose kind fits. */
static void check_constraint(struct check *check, const struct constraint *constraint,
	const json_t *value, const struct value_place *place)
{
	size_t i;
	json_t *item;
	if (json_is_number(value)) {
		check_end(check, &constraint->min, -1, value, place);
		check_end(check, &constraint->max, 1, value, place);
	}
	bool is_text = json_is_string(value);
	size_t len = is_text ? utf8_count(json_string_value(value), json_string_length(value))
			     : json_array_size(value);
	if (constraint->max_len && len > (size_t)constraint->max_len)
		problem(check, place, "%zu %s, and at most %lld are allowed", len,
			is_text ? "characters" : "items", (long long)constraint->max_len);
	if (!constraint->values)
		return;
	if (is_text)
		check_enum(check, constraint, value, place);
	struct value_place in = {.parent = place, .depth = place->depth + 1};
	json_array_foreach ((json_t *)(uintptr_t)value, i, item) {
		in.index = i;
		if (json_is_string(item))
			check_enum(check, constraint, item, &in);
	}
}

static void check_typed(
	struct check *check, struct type t, const json_t *value, const struct value_place *place);

static void unknown_field(
	struct check *check, const struct record *record, const struct value_place *place)
{
	/* Looking for the nearest name is expensive, so do it only for problems that are shown. */
	AUTO_FREE const char **names = NULL;
	if (check->count < PROBLEMS_MAX)
		names = calloc(record->field_count + 1, sizeof(*names));
	for (size_t i = 0; names && i < record->field_count; i++)
		names[i] = record->fields[i].name;
	const char *near = names ? suggest_name(place->name, names, record->field_count) : NULL;
	problem(check, place, "%s has no such field%s%s%s", record->name,
		near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static void check_record(struct check *check, const struct record *record, const json_t *value,
	const struct value_place *place)
{
	struct value_place in = {.parent = place, .depth = place->depth + 1};
	for (size_t i = 0; i < record->field_count; i++) {
		const struct field *f = &record->fields[i];
		const json_t *item = json_object_get(value, f->name);
		in.name = f->name;
		if (item)
			check_typed(check, f->type, item, &in);
		else if (!f->optional && check->mode == VALUE_WHOLE)
			problem(check, &in, "required, but missing");
		if (item && kind_fits(f->type, item))
			check_constraint(check, &f->constraint, item, &in);
	}
	json_t *item;
	json_object_foreach ((json_t *)(uintptr_t)value, in.name, item)
		if (!record_field(record, in.name))
			unknown_field(check, record, &in);
}

static void check_typed(
	struct check *check, struct type t, const json_t *value, const struct value_place *place)
{
	if (!type_known(t))
		return;
	if (!kind_fits(t, value)) {
		bool unset = t.kind == TYPE_RECORD && json_is_null(value) &&
			     check->mode == VALUE_PARTIAL;
		problem(check, place, "expected %s (%s), got %s%s", wanted(t), type_name(t),
			kind_of(value), unset ? "; {} is one that holds nothing yet" : "");
		return;
	}
	if (t.kind == TYPE_JSON) {
		check_opaque(check, value, place);
		return;
	}
	check_leaf(check, value, place);
	if (too_deep(check, value, place))
		return;
	if (t.kind == TYPE_RECORD)
		check_record(check, t.record, value, place);
	if (t.kind != TYPE_LIST)
		return;
	/* A record in a list moves with the list, so nothing could fill it in later. */
	enum value_mode mode = check->mode;
	struct value_place in = {.parent = place, .depth = place->depth + 1};
	json_t *item;
	check->mode = VALUE_WHOLE;
	json_array_foreach ((json_t *)(uintptr_t)value, in.index, item)
		check_typed(check, type_item(t), item, &in);
	check->mode = mode;
}

int value_check(struct type t, const json_t *value, enum value_mode mode, const char *path,
	struct buf *problems)
{
	return demand_check(&(struct demand){.type = t, .mode = mode}, value, path, problems);
}

int demand_check(
	const struct demand *demand, const json_t *value, const char *path, struct buf *problems)
{
	struct check c = {.mode = demand->mode, .problems = problems};
	struct value_place top = {.name = path};
	check_typed(&c, demand->type, value, &top);
	if (demand->constraint && type_known(demand->type) && kind_fits(demand->type, value))
		check_constraint(&c, demand->constraint, value, &top);
	if (c.count > PROBLEMS_MAX)
		buf_addf(problems, "and %zu more problems\n", c.count - PROBLEMS_MAX);
	return c.count ? -1 : 0;
}
