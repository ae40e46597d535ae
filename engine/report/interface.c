#include "report/interface.h"

#include "base/json.h"
#include "machine/kind.h"
#include "machine/template.h"
#include <string.h>

enum { LINE_BYTES_MAX = 64 * 1024, VALUE_BYTES_MAX = 200 };

static json_t *parameter_of(const struct variable *variable)
{
	AUTO_BUF allows = BUF_INIT(LINE_BYTES_MAX);
	constraint_show(&variable->constraint, variable->type, &allows);
	json_t *out = json_pack("{s:s, s:s, s:b, s:O*, s:s*, s:s*}", "name", variable->name, "type",
		type_name(variable->type), "required", !variable->initial, "value",
		variable->initial, "description", variable->description, "allows",
		allows.len ? allows.data : NULL);
	constraint_to_json(&variable->constraint, out);
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

static json_t *field_of(const struct machine *machine, const struct field *field)
{
	AUTO_BUF allows = BUF_INIT(LINE_BYTES_MAX);
	constraint_show(&field->constraint, field->type, &allows);
	json_t *out = json_pack("{s:s, s:s, s:b, s:b, s:s*, s:s*}", "name", field->name, "type",
		type_name(field->type), "optional", field->optional, "untrusted",
		is_untrusted(machine, field), "description", field->description, "allows",
		allows.len ? allows.data : NULL);
	constraint_to_json(&field->constraint, out);
	return out;
}

/* Returns the fields of the result; NULL: the machine has none. */
static json_t *result_of(const struct machine *machine)
{
	json_t *fields = machine->result ? json_array() : NULL;
	for (size_t i = 0; fields && i < machine->result->field_count; i++)
		json_array_append_new(fields, field_of(machine, &machine->result->fields[i]));
	return fields;
}

static json_t *end_of(const struct state *state, const struct terminal_state *end)
{
	return json_pack("{s:s, s:s, s:i}", "state", state->name, "status",
		end->ok ? "ok" : "failed", "exit", end->exit_code ? end->exit_code : !end->ok);
}

json_t *interface_of(const struct machine *machine)
{
	json_t *parameters = json_array(), *ends = json_array();
	for (size_t i = 0; i < machine->variable_count; i++)
		if (machine->variables[i].owner == OWNER_OPERATOR)
			json_array_append_new(parameters, parameter_of(&machine->variables[i]));
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct terminal_state *end = state_terminal(&machine->states[i]);
		if (end)
			json_array_append_new(ends, end_of(&machine->states[i], end));
	}
	return json_pack("{s:o, s:o*, s:o}", "parameters", parameters, "returns",
		result_of(machine), "ends", ends);
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
	show_narrowed(parameter, out);
}

/* Appends a field of the result: "count: int, untrusted (at most 9): how many". */
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
	json_array_foreach (json_object_get(interface, "returns"), i, item) {
		buf_clear(&text);
		show_field(item, &text);
		line(out, i ? "" : "returns", text.data);
	}
	json_array_foreach (json_object_get(interface, "ends"), i, item) {
		buf_adds(&ends, i ? "; " : "");
		show_end(item, &ends);
	}
	if (ends.len)
		line(out, "ends", ends.data);
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
