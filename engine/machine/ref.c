#include "machine/ref.h"

#include <string.h>

enum { SEGMENT_BYTES_MAX = 64, CANDIDATES_MAX = 4096 };

static bool starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool in_name(char c)
{
	return starts_name(c) || (c >= '0' && c <= '9');
}

bool identifier_ok(const char *text, size_t len)
{
	if (!len || len > SEGMENT_BYTES_MAX || text[0] < 'a' || text[0] > 'z')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!in_name(text[i]) || (text[i] >= 'A' && text[i] <= 'Z'))
			return false;
	return true;
}

size_t ref_span(const char *text, size_t at, size_t len)
{
	size_t i = at;
	while (i < len && starts_name(text[i])) {
		while (i < len && in_name(text[i]))
			i++;
		if (i + 1 >= len || text[i] != '.' || !starts_name(text[i + 1]))
			return i - at;
		i++;
	}
	return i - at;
}

static size_t fields_of(const struct record *r, const char **names)
{
	size_t count = 0;
	for (; count < r->field_count && count < CANDIDATES_MAX; count++)
		names[count] = r->fields[count].name;
	return count;
}

static size_t variables_of(const struct scope *scope, const char **names)
{
	size_t count = 0;
	for (; count < scope->machine->variable_count && count < CANDIDATES_MAX - 1; count++)
		names[count] = scope->machine->variables[count].name;
	if (scope->in_capture)
		names[count++] = "result";
	return count;
}

static int unknown_root(
	const struct scope *scope, const struct site *site, size_t at, const char *name)
{
	if (strcmp(name, "result") == 0) {
		struct finding *f = site_report_at(site, RULE_RESULT_OUTSIDE_CAPTURE, at,
			strlen(name), "`result` exists only inside a capture");
		site_help(site, f, "capture it into a variable and read that");
		return -1;
	}
	struct finding *f = site_report_at(site, RULE_UNKNOWN_VARIABLE, at, strlen(name),
		"no variable \"%s\" is declared", name);
	static const char *const owners[] = {"vars", "operator", "code", "agent"};
	for (size_t i = 0; i < ARRAY_LEN(owners); i++)
		if (strcmp(name, owners[i]) == 0)
			site_help(site, f,
				"variables are read by their bare name, whoever owns them");
	if (!f->help) {
		const char *names[CANDIDATES_MAX];
		site_did_you_mean(site, f, name, names, variables_of(scope, names));
	}
	return -1;
}

static int not_a_record(
	const struct site *site, size_t at, const char *field, const char *before, struct type t)
{
	struct finding *f = site_report_at(site, RULE_NOT_A_RECORD, at, strlen(field),
		"\"%s\" is of type %s, which has no fields", before, type_name(t));
	if (t.kind == TYPE_JSON)
		site_help(site, f,
			"json is opaque; declare a schema and use it as the variable's type");
	else
		site_help(site, f, "read \"%s\" itself", before);
	return -1;
}

static int unknown_field(
	const struct site *site, size_t at, const char *field, const struct record *r)
{
	struct finding *f = site_report_at(site, RULE_UNKNOWN_FIELD, at, strlen(field),
		"schema \"%s\" has no field \"%s\"", r->name, field);
	const char *names[CANDIDATES_MAX];
	site_did_you_mean(site, f, field, names, fields_of(r, names));
	return -1;
}

static int resolve_root(const struct scope *scope, const struct site *site, size_t at,
	const char *name, struct ref *r)
{
	if (scope->in_capture && strcmp(name, "result") == 0) {
		r->type = scope->result;
	} else {
		r->root = machine_variable(scope->machine, name);
		if (!r->root)
			return unknown_root(scope, site, at, name);
		r->type = r->root->type;
	}
	return type_known(r->type) ? 0 : -1;
}

static int resolve_field(const struct scope *scope, const struct site *site, size_t at,
	size_t index, struct ref *r, const char *before)
{
	const char *field = r->fields[index];
	if (!r->root && scope->result.kind == TYPE_JSON) {
		struct finding *f =
			site_report_at(site, RULE_RESULT_NEEDS_SCHEMA, at, strlen(field),
				"`result.%s` needs an output_schema that declares it", field);
		site_help(site, f,
			"add `output_schema`, or assign the whole `result` to a json "
			"variable");
		return -1;
	}
	if (r->type.kind != TYPE_RECORD)
		return not_a_record(site, at, field, before, r->type);
	const struct field *declared = record_field(r->type.record, field);
	if (!declared)
		return unknown_field(site, at, field, r->type.record);
	r->declared[index] = declared;
	r->type = declared->type;
	return type_known(r->type) ? 0 : -1;
}

int ref_compile(
	const struct scope *scope, const struct site *site, size_t at, size_t len, struct ref *out)
{
	const char *text = site->node->text + at;
	struct ref r = {.path = arena_copy(scope->arena, text, len)};
	for (size_t i = 0; i < len; i++)
		r.field_count += text[i] == '.';
	r.fields = arena_array(scope->arena, r.field_count + 1, sizeof(*r.fields));
	r.declared = arena_array(scope->arena, r.field_count + 1, sizeof(*r.declared));
	size_t end = strcspn(r.path, ".");
	if (resolve_root(scope, site, at, arena_copy(scope->arena, r.path, end), &r))
		return -1;
	for (size_t i = 0; i < r.field_count; i++) {
		size_t start = end + 1;
		end = start + strcspn(r.path + start, ".");
		r.fields[i] = arena_copy(scope->arena, r.path + start, end - start);
		const char *before = arena_copy(scope->arena, r.path, start - 1);
		if (resolve_field(scope, site, at + start, i, &r, before))
			return -1;
	}
	*out = r;
	return 0;
}

const json_t *ref_within(const struct ref *r, const json_t *root_value)
{
	const json_t *value = root_value;
	for (size_t i = 0; value && i < r->field_count; i++)
		value = json_object_get(value, r->fields[i]);
	return value;
}

const json_t *ref_find(
	const struct ref *r, const json_t *blackboard, const json_t *result, struct err *e)
{
	const json_t *root = r->root ? json_object_get(blackboard, r->root->name) : result;
	const json_t *value = ref_within(r, root);
	if (value)
		return value;
	size_t at = 0;
	while (root && at < r->field_count && (root = json_object_get(root, r->fields[at])))
		at++;
	err_set(e, "\"%s\" was read, but %s\"%s\" is not set", r->path,
		r->field_count ? "its field " : "", r->field_count ? r->fields[at] : r->path);
	return NULL;
}
