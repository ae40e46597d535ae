#include "machine/ref.h"

#include <string.h>

enum { SEGMENT_BYTES_MAX = 64, NAME_BYTES = SEGMENT_BYTES_MAX + 20, CANDIDATES_MAX = 4096 };

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

static size_t fields_of(const struct record *record, const char **names)
{
	size_t count = 0;
	for (; count < record->field_count && count < CANDIDATES_MAX; count++)
		names[count] = record->fields[count].name;
	return count;
}

static size_t variables_of(const struct scope *scope, const char **names)
{
	size_t count = 0;
	for (; count < scope->machine->variable_count && count < CANDIDATES_MAX - 3; count++)
		names[count] = scope->machine->variables[count].name;
	if (scope->in_capture)
		names[count++] = "result";
	if (scope->has_exit)
		names[count++] = "exit";
	if (scope->failure)
		names[count++] = "failure";
	return count;
}

/* Returns advice on a name with which references of other tools begin; NULL: there is none. */
static const char *advice_on(const char *name)
{
	static const char bare[] = "variables are read by their bare name, for every owner",
			  captured[] = "what a state found is captured into a variable, and "
				       "read by that one's name",
			  status[] = "only the `capture.set` of a tool state reads the exit "
				     "status; capture it into an int variable, and read that",
			  secret[] = "no text holds a secret: a tool state names it in `secrets`";
	static const struct {
		const char *name, *advice;
	} habits[] = {{"vars", bare}, {"operator", bare}, {"code", bare}, {"agent", bare},
		{"inputs", bare}, {"params", bare}, {"state", bare}, {"states", captured},
		{"steps", captured}, {"needs", captured}, {"jobs", captured}, {"outputs", captured},
		{"exit", status}, {"secrets", secret}};
	for (size_t i = 0; i < ARRAY_LEN(habits); i++)
		if (!strcmp(name, habits[i].name))
			return habits[i].advice;
	return NULL;
}

/* Reports `result` or `failure` in a place where there is none. Returns false for other names. */
static bool out_of_place(
	const struct scope *scope, const struct site *site, size_t at, const char *name)
{
	struct finding *f;
	if (strcmp(name, "result") == 0) {
		f = site_report_at(site, RULE_RESULT_OUTSIDE_CAPTURE, at, strlen(name),
			"`result` exists only inside a capture");
		site_help(site, f,
			scope->failure ? "a state that failed has no result; read `failure`"
				       : "capture it into a variable and read that");
		return true;
	}
	if (strcmp(name, "failure") != 0)
		return false;
	f = site_report_at(site, RULE_FAILURE_OUTSIDE_CAPTURE, at, strlen(name),
		"`failure` exists only inside a `capture_failure`");
	site_help(site, f, "capture it there into a variable and read that");
	return true;
}

static int unknown_root(
	const struct scope *scope, const struct site *site, size_t at, const char *name)
{
	if (scope->machine->vars_broken || out_of_place(scope, site, at, name))
		return -1;
	struct finding *f = site_report_at(site, RULE_UNKNOWN_VARIABLE, at, strlen(name),
		"no variable \"%s\" is declared", name);
	const char *advice = advice_on(name);
	const struct type *result = scope->in_capture ? &scope->result : NULL;
	if (scope->failure && record_field(scope->failure, name)) {
		site_help(site, f, "did you mean \"failure.%s\"?", name);
	} else if (advice) {
		site_help(site, f, "%s", advice);
	} else if (result && result->record && record_field(result->record, name)) {
		site_help(site, f, "did you mean \"result.%s\"?", name);
	} else {
		const char *names[CANDIDATES_MAX];
		site_did_you_mean(site, f, name, names, variables_of(scope, names));
	}
	return -1;
}

/* Reports a field of something that is no record: the text up to `at`, without the dot. */
static int not_a_record(const struct scope *scope, const struct site *site, size_t start, size_t at,
	const struct ref *ref)
{
	struct type t = ref->type;
	size_t len = strcspn(ref->path + (at - start), ".");
	bool hidden = scope->failure && ref->root && !strcmp(ref->root->name, "failure");
	const char *before = site->node->text + start;
	int before_len = (int)(at - start - 1);
	struct finding *f = site_report_at(site, RULE_NOT_A_RECORD, at, len,
		"\"%.*s\" is of type %s, which has no fields", before_len, before, type_name(t));
	if (hidden)
		site_help(site, f,
			"this is the variable of that name, which hides the failure; rename it");
	else if (t.kind == TYPE_JSON)
		site_help(site, f,
			"json is opaque; declare a schema and use it as the variable's type");
	else
		site_help(site, f, "read \"%.*s\" itself", before_len, before);
	return -1;
}

static int unknown_field(const struct site *site, size_t at, const char *field,
	const struct ref *ref, const struct record *record)
{
	struct finding *f =
		ref->source == REF_FAILURE
			? site_report_at(site, RULE_UNKNOWN_FIELD, at, strlen(field),
				  "the failure of a state of this kind has no field \"%s\"", field)
			: site_report_at(site, RULE_UNKNOWN_FIELD, at, strlen(field),
				  "schema \"%s\" has no field \"%s\"", record->name, field);
	const char *names[CANDIDATES_MAX];
	size_t count = fields_of(record, names);
	site_did_you_mean(site, f, field, names, count);
	site_say_known(site, f, names, count);
	return -1;
}

/* Copies a name of the reference. A name that is too long to be declared is cut. */
static void name_at(const struct site *site, size_t at, size_t len, char out[NAME_BYTES])
{
	len = len < NAME_BYTES ? len : NAME_BYTES - 1;
	memcpy(out, site->node->text + at, len);
	out[len] = '\0';
}

static int resolve_root(
	const struct scope *scope, const struct site *site, size_t at, size_t len, struct ref *ref)
{
	char name[NAME_BYTES];
	name_at(site, at, len, name);
	if (scope->in_capture && strcmp(name, "result") == 0) {
		ref->source = REF_RESULT;
		ref->type = scope->result;
	} else if ((ref->root = machine_variable(scope->machine, name))) {
		ref->type = ref->root->type;
	} else if (scope->has_exit && strcmp(name, "exit") == 0) {
		ref->source = REF_EXIT;
		ref->type = (struct type){.kind = TYPE_INT};
	} else if (scope->failure && strcmp(name, "failure") == 0) {
		ref->source = REF_FAILURE;
		ref->type = (struct type){.kind = TYPE_RECORD, .record = scope->failure};
	} else {
		return unknown_root(scope, site, at, name);
	}
	return type_known(ref->type) ? 0 : -1;
}

static int resolve_field(const struct scope *scope, const struct site *site, size_t start,
	size_t at, struct ref *ref)
{
	char name[NAME_BYTES];
	size_t len = strcspn(ref->path + (at - start), ".");
	name_at(site, at, len, name);
	if (ref->source == REF_RESULT && scope->result.kind == TYPE_JSON) {
		struct finding *f = site_report_at(site, RULE_RESULT_NEEDS_SCHEMA, at, len,
			"`result.%s` needs an output_schema that declares it", name);
		site_help(site, f,
			"add `output_schema`, or assign the whole `result` to a json variable");
		return -1;
	}
	if (ref->type.kind != TYPE_RECORD)
		return not_a_record(scope, site, start, at, ref);
	const struct field *declared = record_field(ref->type.record, name);
	if (!declared)
		return unknown_field(site, at, name, ref, ref->type.record);
	ref->fields[ref->field_count++] = declared;
	ref->type = declared->type;
	return type_known(ref->type) ? 0 : -1;
}

static size_t count_dots(const char *text, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += text[i] == '.';
	return count;
}

static const char *const built_in[] = {
	[REF_RESULT] = "result", [REF_EXIT] = "exit", [REF_FAILURE] = "failure"};

const struct ref *ref_compile(
	const struct scope *scope, const struct site *site, size_t at, size_t len)
{
	const char *text = site->node->text + at;
	size_t dots = count_dots(text, len), end = len;
	struct ref r = {.at = (uint32_t)at};
	if (dots) {
		r.path = arena_copy(scope->arena, text, len);
		r.fields = arena_array(scope->arena, dots, sizeof(struct field *));
		end = strcspn(r.path, ".");
	}
	if (resolve_root(scope, site, at, end, &r))
		return NULL;
	for (size_t start; end < len; end = start + strcspn(r.path + start, ".")) {
		start = end + 1;
		if (resolve_field(scope, site, at, at + start, &r))
			return NULL;
	}
	if (!dots)
		r.path = r.root ? r.root->name : built_in[r.source];
	r.id = scope->machine->ref_count++;
	struct ref *kept = arena_alloc(scope->arena, sizeof(*kept));
	*kept = r;
	return kept;
}

const json_t *ref_within(const struct ref *ref, const json_t *root_value)
{
	const json_t *value = root_value;
	for (size_t i = 0; value && i < ref->field_count; i++)
		value = json_object_get(value, ref->fields[i]->name);
	return value;
}

static const json_t *root_value(
	const struct ref *ref, const json_t *blackboard, const struct captured *captured)
{
	if (ref->root)
		return json_object_get(blackboard, ref->root->name);
	if (!captured)
		return NULL;
	return ref->source == REF_EXIT      ? captured->exit
	       : ref->source == REF_FAILURE ? captured->failure
					    : captured->result;
}

const json_t *ref_find(const struct ref *ref, const json_t *blackboard,
	const struct captured *captured, struct err *e)
{
	const json_t *root = root_value(ref, blackboard, captured);
	const json_t *value = ref_within(ref, root);
	if (value)
		return value;
	size_t at = 0;
	while (root && at < ref->field_count &&
		(root = json_object_get(root, ref->fields[at]->name)))
		at++;
	err_set(e, "\"%s\" was read, but %s\"%s\" is not set", ref->path,
		ref->field_count ? "its field " : "",
		ref->field_count ? ref->fields[at]->name : ref->path);
	return NULL;
}
