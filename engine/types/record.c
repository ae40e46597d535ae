#include "types/types.h"

#include <stdint.h>
#include <string.h>

/* NEST_MAX is deeper than any value may nest; data from a pipe cannot make us recurse further. */
enum { NEST_MAX = 64, SHOWN_MAX = 4 };

static json_t *texts_to_json(const char *const *texts, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}

json_t *range_end_json(const struct range_end *end)
{
	return end->is_integer ? json_integer(end->integer) : json_real(end->number);
}

void constraint_to_json(const struct constraint *constraint, json_t *out)
{
	if (constraint->values)
		json_object_set_new(
			out, "enum", texts_to_json(constraint->values, constraint->value_count));
	if (constraint->min.present)
		json_object_set_new(out, "min", range_end_json(&constraint->min));
	if (constraint->max.present)
		json_object_set_new(out, "max", range_end_json(&constraint->max));
	if (constraint->max_len)
		json_object_set_new(out, "max_len", json_integer(constraint->max_len));
}

static json_t *type_to_json(struct type t)
{
	if (t.kind == TYPE_RECORD)
		return record_to_json(t.record);
	if (type_lists_records(t))
		return json_pack("{s:o}", "list", record_to_json(t.record));
	return json_string(type_name(t));
}

json_t *record_to_json(const struct record *record)
{
	json_t *fields = json_array();
	for (size_t i = 0; i < record->field_count; i++) {
		const struct field *f = &record->fields[i];
		json_t *out =
			json_pack("{s:s, s:o}", "name", f->name, "type", type_to_json(f->type));
		if (f->optional)
			json_object_set_new(out, "optional", json_true());
		if (f->description)
			json_object_set_new(out, "description", json_string(f->description));
		constraint_to_json(&f->constraint, out);
		json_array_append_new(fields, out);
	}
	return json_pack("{s:s, s:o}", "name", record->name, "fields", fields);
}

static const char *keep(struct arena *arena, const json_t *text)
{
	return arena_copy(arena, json_string_value(text), json_string_length(text));
}

static const struct record *decode_record(
	const json_t *data, struct arena *arena, int depth, struct err *e);

static int decode_type(
	const json_t *type, struct arena *arena, int depth, struct type *out, struct err *e)
{
	if (json_is_object(type)) {
		const json_t *items = json_object_get(type, "list");
		*out = (struct type){.kind = items ? TYPE_LIST : TYPE_RECORD, .item = TYPE_RECORD};
		out->record = decode_record(items ? items : type, arena, depth + 1, e);
		return out->record ? 0 : -1;
	}
	if (!json_is_string(type) || !type_scalar(json_string_value(type), out))
		return err_set(e, "a field's type must be a type name or a record");
	return 0;
}

static int decode_enum(
	const json_t *values, struct arena *arena, struct field *field, struct err *e)
{
	const char **texts = arena_array(arena, json_array_size(values), sizeof(*texts));
	size_t i;
	json_t *value;
	json_array_foreach ((json_t *)(uintptr_t)values, i, value) {
		if (!json_is_string(value))
			return err_set(e, "an enum value must be a string");
		texts[i] = keep(arena, value);
	}
	field->constraint.values = texts;
	field->constraint.value_count = json_array_size(values);
	return field->constraint.value_count
		       ? 0
		       : err_set(e, "an enum must be a list of strings, at least one");
}

static int decode_end(const json_t *number, struct range_end *end, struct err *e)
{
	if (!number)
		return 0;
	*end = (struct range_end){true, json_is_integer(number), json_integer_value(number),
		json_number_value(number)};
	return json_is_number(number) ? 0 : err_set(e, "min and max must be numbers");
}

static int decode_constraint(const json_t *data, struct constraint *constraint, struct err *e)
{
	const json_t *max_len = json_object_get(data, "max_len");
	constraint->max_len = json_integer_value(max_len);
	if (max_len && constraint->max_len < 1)
		return err_set(e, "max_len must be a positive integer");
	return decode_end(json_object_get(data, "min"), &constraint->min, e) ||
			       decode_end(json_object_get(data, "max"), &constraint->max, e)
		       ? -1
		       : 0;
}

static int decode_field(
	const json_t *data, struct arena *arena, int depth, struct field *field, struct err *e)
{
	const json_t *name = json_object_get(data, "name");
	const json_t *values = json_object_get(data, "enum");
	const json_t *description = json_object_get(data, "description");
	if (!json_is_string(name))
		return err_set(e, "a field needs a name");
	field->name = keep(arena, name);
	field->description = json_is_string(description) ? keep(arena, description) : NULL;
	field->optional = json_is_true(json_object_get(data, "optional"));
	if (decode_type(json_object_get(data, "type"), arena, depth, &field->type, e) ||
		decode_constraint(data, &field->constraint, e))
		return depth < SHOWN_MAX ? err_wrap(e, "field \"%s\"", field->name) : -1;
	return values ? decode_enum(values, arena, field, e) : 0;
}

static const struct record *decode_record(
	const json_t *data, struct arena *arena, int depth, struct err *e)
{
	const json_t *name = json_object_get(data, "name");
	const json_t *fields = json_object_get(data, "fields");
	if (depth > NEST_MAX || !json_is_string(name) || !json_is_array(fields)) {
		err_set(e,
			depth > NEST_MAX ? "the record nests deeper than %d levels"
					 : "a record needs a name and fields",
			NEST_MAX);
		return NULL;
	}
	struct record *r = arena_alloc(arena, sizeof(*r));
	struct field *list = arena_array(arena, json_array_size(fields), sizeof(*list));
	r->name = keep(arena, name);
	r->fields = list;
	size_t i;
	json_t *field;
	json_array_foreach ((json_t *)(uintptr_t)fields, i, field) {
		if (decode_field(field, arena, depth, &list[i], e)) {
			if (!depth)
				err_wrap(e, "record \"%s\"", r->name);
			return NULL;
		}
	}
	r->field_count = json_array_size(fields);
	const struct field *twice = record_sort(r, arena);
	if (twice)
		err_set(e, "record \"%s\" has two fields \"%s\"", r->name, twice->name);
	return twice ? NULL : r;
}

const struct record *record_from_json(const json_t *data, struct arena *arena, struct err *e)
{
	return decode_record(data, arena, 0, e);
}

static json_t *type_schema(struct type t)
{
	static const char *const names[] = {[TYPE_STR] = "string",
		[TYPE_INT] = "integer",
		[TYPE_FLOAT] = "number",
		[TYPE_BOOL] = "boolean"};
	if (t.kind == TYPE_RECORD)
		return record_json_schema(t.record);
	if (t.kind == TYPE_JSON)
		return json_object();
	if (t.kind == TYPE_LIST)
		return json_pack("{s:s, s:o}", "type", "array", "items", type_schema(type_item(t)));
	return json_pack("{s:s}", "type", names[t.kind]);
}

/* Adds the keywords of JSON Schema. The enum of a list is that of its items. */
static void constrain_schema(const struct field *field, json_t *schema)
{
	const struct constraint *constraint = &field->constraint;
	bool is_list = field->type.kind == TYPE_LIST;
	if (constraint->values)
		json_object_set_new(is_list ? json_object_get(schema, "items") : schema, "enum",
			texts_to_json(constraint->values, constraint->value_count));
	if (constraint->min.present)
		json_object_set_new(schema, "minimum", range_end_json(&constraint->min));
	if (constraint->max.present)
		json_object_set_new(schema, "maximum", range_end_json(&constraint->max));
	if (constraint->max_len)
		json_object_set_new(schema, is_list ? "maxItems" : "maxLength",
			json_integer(constraint->max_len));
	if (field->description)
		json_object_set_new(schema, "description", json_string(field->description));
}

json_t *record_json_schema(const struct record *record)
{
	json_t *properties = json_object(), *required = json_array();
	for (size_t i = 0; i < record->field_count; i++) {
		const struct field *f = &record->fields[i];
		json_t *schema = type_schema(f->type);
		constrain_schema(f, schema);
		json_object_set_new(properties, f->name, schema);
		if (!f->optional)
			json_array_append_new(required, json_string(f->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
		"required", required, "additionalProperties", 0);
}
