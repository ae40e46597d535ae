#include "report/interface.h"

#include "base/json.h"
#include "machine/kind.h"
#include <string.h>

enum { LINE_BYTES_MAX = 64 * 1024, VALUE_BYTES_MAX = 200 };

static json_t *end_of_range(const struct range_end *end)
{
	if (!end->present)
		return NULL;
	return end->is_integer ? json_integer(end->integer) : json_real(end->number);
}

static json_t *parameter_of(const struct variable *variable)
{
	const struct constraint *constraint = &variable->constraint;
	json_t *values = constraint->values ? json_array() : NULL;
	for (size_t i = 0; i < constraint->value_count; i++)
		json_array_append_new(values, json_string(constraint->values[i]));
	AUTO_BUF narrowed = BUF_INIT(LINE_BYTES_MAX);
	constraint_show(constraint, variable->type, &narrowed);
	return json_pack("{s:s, s:s, s:b, s:O*, s:s*, s:o*, s:o*, s:o*, s:o*, s:s*}", "name",
		variable->name, "type", type_name(variable->type), "required", !variable->initial,
		"value", variable->initial, "description", variable->description, "enum", values,
		"min", end_of_range(&constraint->min), "max", end_of_range(&constraint->max),
		"max_len", constraint->max_len ? json_integer(constraint->max_len) : NULL, "allows",
		narrowed.len ? narrowed.data : NULL);
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
			json_array_append_new(
				ends, json_pack("{s:s, s:s, s:i}", "state", machine->states[i].name,
					      "status", end->ok ? "ok" : "failed", "exit",
					      end->exit_code ? end->exit_code : !end->ok));
	}
	return json_pack("{s:o, s:o}", "parameters", parameters, "ends", ends);
}

/* Appends a parameter as one line: "int = 3 (1 to 9): how often". */
static void show_parameter(const json_t *parameter, struct buf *out)
{
	const json_t *value = json_object_get(parameter, "value");
	const char *allows = json_get_text(parameter, "allows");
	const char *description = json_get_text(parameter, "description");
	AUTO_FREE char *text = value ? json_text(value) : NULL;
	buf_addf(out, "%s: %s", json_get_text(parameter, "name"), json_get_text(parameter, "type"));
	if (text)
		buf_addf(out, " = %.*s%s", VALUE_BYTES_MAX, text,
			strlen(text) > VALUE_BYTES_MAX ? "..." : "");
	else
		buf_adds(out, ", required");
	if (*allows)
		buf_addf(out, " (%s)", allows);
	if (*description)
		buf_addf(out, ": %s", description);
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
	json_array_foreach (json_object_get(interface, "ends"), i, item)
		buf_addf(&ends, "%s%s: %s, exit %lld", i ? "; " : "", json_get_text(item, "state"),
			json_get_text(item, "status"), (long long)json_get_int(item, "exit"));
	if (ends.len)
		line(out, "ends", ends.data);
}

/* --- the difference between two versions ------------------------------------------------------ */

struct difference {
	const struct machine *machine;
	struct findings *findings;
	const char *list, *key; /* of the interface; the member that names an item */
};

/* Returns an object of the items by their names. */
static json_t *items_by_name(const json_t *interface, const struct difference *difference)
{
	size_t i;
	json_t *item, *all = json_object();
	json_array_foreach (json_object_get(interface, difference->list), i, item)
		json_object_set(all, json_get_text(item, difference->key), item);
	return all;
}

static void show_item(const json_t *item, const struct difference *difference, struct buf *out)
{
	if (!strcmp(difference->list, "parameters"))
		show_parameter(item, out);
	else
		buf_addf(out, "%s: %s, exit %lld", json_get_text(item, "state"),
			json_get_text(item, "status"), (long long)json_get_int(item, "exit"));
}

/* Adds a note; `old` NULL: the item is new, `now` NULL: it is gone. */
static void note_difference(
	const struct difference *difference, const json_t *old, const json_t *now)
{
	AUTO_BUF before = BUF_INIT(LINE_BYTES_MAX), after = BUF_INIT(LINE_BYTES_MAX);
	const char *kind = !strcmp(difference->list, "parameters") ? "parameter" : "end";
	if (old)
		show_item(old, difference, &before);
	if (now)
		show_item(now, difference, &after);
	if (old && now && !strcmp(before.data, after.data))
		return;
	const struct machine *m = difference->machine;
	const char *name = json_get_text(now, difference->key);
	const struct variable *variable = now ? machine_variable(m, name) : NULL;
	const struct state *state = now ? machine_state(m, name) : NULL;
	const struct doc_node *at = !strcmp(kind, "end") ? state ? state->key : NULL
				    : variable           ? variable->node
							 : NULL;
	if (!at)
		at = m->doc->root;
	if (!old)
		finding_add(difference->findings, RULE_INTERFACE_CHANGED, m->doc, at,
			"a new %s: %s", kind, after.data);
	else if (!now)
		finding_add(difference->findings, RULE_INTERFACE_CHANGED, m->doc, at,
			"a %s is gone: %s", kind, before.data);
	else
		finding_add(difference->findings, RULE_INTERFACE_CHANGED, m->doc, at,
			"the %s was %s, and is %s", kind, before.data, after.data);
}

void interface_compare(const json_t *old, const json_t *now, const struct machine *machine,
	struct findings *findings)
{
	struct difference lists[] = {
		{machine, findings, "parameters", "name"}, {machine, findings, "ends", "state"}};
	for (size_t at = 0; at < ARRAY_LEN(lists); at++) {
		const struct difference *difference = &lists[at];
		json_auto_t *before = items_by_name(old, difference);
		json_auto_t *after = items_by_name(now, difference);
		const char *name;
		json_t *item;
		json_object_foreach (after, name, item)
			note_difference(difference, json_object_get(before, name), item);
		json_object_foreach (before, name, item)
			if (!json_object_get(after, name))
				note_difference(difference, item, NULL);
	}
}
