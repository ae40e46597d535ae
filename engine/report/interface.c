#include "report/interface.h"

#include "base/json.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/template.h"
#include "report/text.h"
#include <string.h>

enum { LINE_BYTES_MAX = 64 * 1024, VALUE_BYTES_MAX = 200 };

static json_t *example_of(struct type type, const struct constraint *constraint);

static json_t *parameter_of(const struct machine *machine, const struct variable *variable)
{
	AUTO_BUF allows = BUF_INIT(LINE_BYTES_MAX);
	constraint_show(&variable->constraint, variable->type, &allows);
	json_t *out = json_pack("{s:s, s:s, s:b, s:O*, s:s*, s:s*}", "name", variable->name, "type",
		type_name(variable->type), "required", !variable->initial, "value",
		variable->initial, "description", variable->description, "allows",
		allows.len ? allows.data : NULL);
	constraint_to_json(&variable->constraint, out);
	if (fixed_is(machine, variable))
		json_object_set_new(out, "fixed", json_true());
	return out;
}

static void note_untrusted(void *untrusted, const struct ref *ref, const char *source)
{
	(void)source;
	*(bool *)untrusted |= ref->root && ref->root->untrusted;
}

/* Reports whether an end may give the field data that a model wrote or that came from the network.
 */
static bool is_untrusted(const struct machine *machine, const struct field *field)
{
	bool untrusted = false;
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct terminal_state *end = state_terminal(&machine->states[i]);
		for (size_t k = 0; end && k < end->return_count; k++)
			if (end->returns[k].field == field)
				template_references(
					end->returns[k].value, note_untrusted, &untrusted);
	}
	return untrusted;
}

static json_t *field_of(const struct field *field)
{
	AUTO_BUF allows = BUF_INIT(LINE_BYTES_MAX);
	constraint_show(&field->constraint, field->type, &allows);
	json_t *out = json_pack("{s:s, s:s, s:b, s:s*, s:s*}", "name", field->name, "type",
		type_name(field->type), "optional", field->optional, "description",
		field->description, "allows", allows.len ? allows.data : NULL);
	constraint_to_json(&field->constraint, out);
	return out;
}

/* Returns the fields of the result; NULL: the machine has none. */
static json_t *result_of(const struct machine *machine)
{
	json_t *fields = machine->result ? json_array() : NULL;
	for (size_t i = 0; fields && i < machine->result->field_count; i++) {
		const struct field *field = &machine->result->fields[i];
		json_t *item = field_of(field);
		json_object_set_new(item, "untrusted", json_boolean(is_untrusted(machine, field)));
		json_array_append_new(fields, item);
	}
	return fields;
}

/* Adds the fields of the data that a wait takes, each named STATE.FIELD. */
static void add_poke(json_t *pokes, const struct state *state)
{
	const struct record *form = state_wait(state) ? state->output_schema : NULL;
	for (size_t i = 0; form && i < form->field_count; i++) {
		json_t *item = field_of(&form->fields[i]);
		json_object_set_new(
			item, "name", json_sprintf("%s.%s", state->name, form->fields[i].name));
		json_array_append_new(pokes, item);
	}
}

static json_t *end_of(const struct state *state, const struct terminal_state *end)
{
	return json_pack("{s:s, s:s, s:i}", "state", state->name, "status",
		end->ok ? "ok" : "failed", "exit", end->exit_code ? end->exit_code : !end->ok);
}

json_t *interface_of(const struct machine *machine)
{
	json_t *parameters = json_array(), *ends = json_array(), *pokes = json_array();
	for (size_t i = 0; i < machine->variable_count; i++)
		if (machine->variables[i].owner == OWNER_OPERATOR)
			json_array_append_new(
				parameters, parameter_of(machine, &machine->variables[i]));
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct terminal_state *end = state_terminal(&machine->states[i]);
		if (end)
			json_array_append_new(ends, end_of(&machine->states[i], end));
		add_poke(pokes, &machine->states[i]);
	}
	json_t *interface = json_pack("{s:o, s:o*, s:o}", "parameters", parameters, "returns",
		result_of(machine), "ends", ends);
	if (json_array_size(pokes))
		json_object_set(interface, "pokes", pokes);
	json_decref(pokes);
	return interface;
}

/* Appends the end of a line: " (1 to 9): how often". */
static void show_narrowed(const json_t *item, struct buf *out)
{
	const char *allows = json_get_text(item, "allows");
	const char *description = json_get_text(item, "description");
	if (*allows)
		buf_addf(out, " (%s)", allows);
	if (*description)
		buf_addf(out, ": %s", description);
}

/* Appends a parameter as one line: "int = 3 (1 to 9): how often". */
static void show_parameter(const json_t *parameter, struct buf *out)
{
	const json_t *value = json_object_get(parameter, "value");
	AUTO_FREE char *text = value ? json_text(value) : NULL;
	buf_addf(out, "%s: %s", json_get_text(parameter, "name"), json_get_text(parameter, "type"));
	if (text)
		buf_addf(out, " = %.*s%s", VALUE_BYTES_MAX, text,
			strlen(text) > VALUE_BYTES_MAX ? "..." : "");
	else
		buf_adds(out, ", required");
	buf_adds(out, json_is_true(json_object_get(parameter, "fixed")) ? ", fixed" : "");
	show_narrowed(parameter, out);
}

/* Appends a field of the result or of a poke: "count: int, untrusted (at most 9): how many". */
static void show_field(const json_t *field, struct buf *out)
{
	buf_addf(out, "%s: %s%s%s", json_get_text(field, "name"), json_get_text(field, "type"),
		json_is_true(json_object_get(field, "optional")) ? ", optional" : "",
		json_is_true(json_object_get(field, "untrusted")) ? ", untrusted" : "");
	show_narrowed(field, out);
}

/* Appends an end: "done: ok, exit 0". */
static void show_end(const json_t *end, struct buf *out)
{
	buf_addf(out, "%s: %s, exit %lld", json_get_text(end, "state"),
		json_get_text(end, "status"), (long long)json_get_int(end, "exit"));
}

/* Writes a line for each field. */
static void show_fields(
	const json_t *fields, const char *label, interface_line *line, struct buf *out)
{
	size_t i;
	json_t *item;
	AUTO_BUF text = BUF_INIT(LINE_BYTES_MAX);
	json_array_foreach ((json_t *)(uintptr_t)fields, i, item) {
		buf_clear(&text);
		show_field(item, &text);
		line(out, i ? "" : label, text.data);
	}
}

void interface_lines(const json_t *interface, interface_line *line, struct buf *out)
{
	size_t i;
	json_t *item;
	AUTO_BUF text = BUF_INIT(LINE_BYTES_MAX), ends = BUF_INIT(LINE_BYTES_MAX);
	json_array_foreach (json_object_get(interface, "parameters"), i, item) {
		buf_clear(&text);
		show_parameter(item, &text);
		line(out, i ? "" : "parameters", text.data);
	}
	show_fields(json_object_get(interface, "pokes"), "pokes", line, out);
	show_fields(json_object_get(interface, "returns"), "returns", line, out);
	json_array_foreach (json_object_get(interface, "ends"), i, item) {
		buf_adds(&ends, i ? "; " : "");
		show_end(item, &ends);
	}
	if (ends.len)
		line(out, "ends", ends.data);
}

/* --- pokes ------------------------------------------------------------------------------------ */

static json_t *example_of_record(const struct record *record)
{
	json_t *out = json_object();
	for (size_t i = 0; i < record->field_count; i++)
		if (!record->fields[i].optional)
			json_object_set_new(out, record->fields[i].name,
				example_of(record->fields[i].type, &record->fields[i].constraint));
	return out;
}

/* Returns a value of the type, which conforms as far as its constraint names one. */
static json_t *example_of(struct type type, const struct constraint *constraint)
{
	if (type.kind == TYPE_STR)
		return constraint->value_count
			       ? json_string(constraint->values[0])
			       : json_stringn("...", constraint->max_len == 1   ? 1
						     : constraint->max_len == 2 ? 2
										: 3);
	if (type.kind == TYPE_INT || type.kind == TYPE_FLOAT) {
		const struct range_end *end =
			constraint->min.present ? &constraint->min : &constraint->max;
		return end->present ? range_end_json(end) : json_integer(0);
	}
	if (type.kind == TYPE_BOOL)
		return json_true();
	if (type.kind == TYPE_RECORD)
		return example_of_record(type.record);
	return type.kind == TYPE_LIST ? json_array() : json_object();
}

json_t *interface_poke(const struct machine *machine, const char *name)
{
	const struct state *state = machine_state(machine, name);
	if (!state || !state_wait(state) || !state->output_schema)
		return NULL;
	json_t *fields = json_array();
	for (size_t i = 0; i < state->output_schema->field_count; i++)
		json_array_append_new(fields, field_of(&state->output_schema->fields[i]));
	return json_pack(
		"{s:o, s:o}", "fields", fields, "example", example_of_record(state->output_schema));
}

void interface_poke_fields(const json_t *poke, const char *indent, struct buf *out)
{
	size_t i;
	json_t *field;
	json_array_foreach (json_object_get(poke, "fields"), i, field) {
		AUTO_BUF text = BUF_INIT(LINE_BYTES_MAX);
		show_field(field, &text);
		buf_addf(out, "\n%s", indent);
		text_clean_hidden(out, text.data, SIZE_MAX);
	}
}

void interface_poke_command(const json_t *poke, const char *id, struct buf *out)
{
	AUTO_FREE char *example = poke ? json_text(json_object_get(poke, "example")) : NULL;
	buf_addf(out, "agent6 machine poke %s", id);
	if (!example)
		return;
	buf_adds(out, " --data '");
	for (const char *at = example; *at; at++) {
		if (*at == '\'')
			buf_adds(out, "'\\'");
		buf_addc(out, *at);
	}
	buf_addc(out, '\'');
}

/* --- the difference between two versions ------------------------------------------------------ */

static const struct doc_node *parameter_node(const struct machine *machine, const char *name)
{
	return machine_variable(machine, name)->node;
}

static const struct doc_node *field_node(const struct machine *machine, const char *name)
{
	const struct doc_node *schema = doc_get(machine->schemas_map, machine->result->name);
	const struct doc_pair *pair = doc_pair(schema, name);
	return pair ? &pair->key : machine->doc->root;
}

static const struct doc_node *poke_node(const struct machine *machine, const char *name)
{
	AUTO_FREE char *state = strndup(name, strcspn(name, "."));
	return machine_state(machine, state ? state : "")->key;
}

static const struct doc_node *end_node(const struct machine *machine, const char *name)
{
	return machine_state(machine, name)->key;
}

/* A list of the interface. */
static const struct interface_part {
	const char *list, *key; /* its name; the member that names an item */
	const char *kind;       /* of an item, for people */
	void (*show)(const json_t *item, struct buf *out);
	/* Returns the declaration of that name. */
	const struct doc_node *(*node)(const struct machine *machine, const char *name);
} parts[] = {{"parameters", "name", "parameter", show_parameter, parameter_node},
	{"pokes", "name", "field of a poke", show_field, poke_node},
	{"returns", "name", "field of the result", show_field, field_node},
	{"ends", "state", "end", show_end, end_node}};

/* Returns an object of the items by their names. */
static json_t *items_by_name(const json_t *interface, const struct interface_part *part)
{
	size_t i;
	json_t *item, *all = json_object();
	json_array_foreach (json_object_get(interface, part->list), i, item)
		json_object_set(all, json_get_text(item, part->key), item);
	return all;
}

/* Says what became of an item; nothing if it is as it was. `old` NULL: it is new, `now` NULL: it is
 * gone. */
static void show_difference(
	const struct interface_part *part, const json_t *old, const json_t *now, struct buf *out)
{
	AUTO_BUF before = BUF_INIT(LINE_BYTES_MAX), after = BUF_INIT(LINE_BYTES_MAX);
	if (old)
		part->show(old, &before);
	if (now)
		part->show(now, &after);
	if (!old)
		buf_addf(out, "a new %s: %s", part->kind, after.data);
	else if (!now)
		buf_addf(out, "a %s is gone: %s", part->kind, before.data);
	else if (strcmp(before.data, after.data) != 0)
		buf_addf(out, "the %s was %s, and is %s", part->kind, before.data, after.data);
}

static void compare_part(const json_t *old, const json_t *now, const struct interface_part *part,
	const struct machine *machine, struct findings *findings)
{
	json_auto_t *before = items_by_name(old, part), *after = items_by_name(now, part);
	json_auto_t *all = json_copy(after);
	const char *name;
	json_t *item;
	json_object_update_missing(all, before);
	json_object_foreach (all, name, item) {
		const json_t *is = json_object_get(after, name);
		AUTO_BUF text = BUF_INIT(2 * LINE_BYTES_MAX);
		show_difference(part, json_object_get(before, name), is, &text);
		if (text.len)
			finding_add(findings, RULE_INTERFACE_CHANGED, machine->doc,
				is ? part->node(machine, name) : machine->doc->root, "%s",
				text.data);
	}
}

void interface_compare(const json_t *old, const json_t *now, const struct machine *machine,
	struct findings *findings)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		compare_part(old, now, &parts[i], machine, findings);
}
