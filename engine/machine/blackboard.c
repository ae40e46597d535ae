#include "machine/blackboard.h"

#include "base/json.h"
#include "base/suggest.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/reader.h"
#include <string.h>

enum { PARAMETER_BYTES_MAX = 1024 * 1024 };

json_t *blackboard_new(const struct machine *machine)
{
	json_t *blackboard = json_object();
	for (size_t i = 0; i < machine->variable_count; i++)
		if (machine->variables[i].initial)
			json_object_set(blackboard, machine->variables[i].name,
				machine->variables[i].initial);
	return blackboard;
}

int blackboard_complete(const struct machine *machine, const json_t *blackboard, struct err *e)
{
	AUTO_BUF missing = BUF_INIT(2048);
	size_t count = 0;
	for (size_t i = 0; i < machine->variable_count; i++) {
		const struct variable *v = &machine->variables[i];
		if (json_object_get(blackboard, v->name))
			continue;
		count++;
		buf_addf(&missing, "\n  --set %s=%s", v->name, type_name(v->type));
		AUTO_BUF narrowed = BUF_INIT(400);
		constraint_show(&v->constraint, v->type, &narrowed);
		if (v->description)
			buf_addf(&missing, "  %s", v->description);
		if (narrowed.len && !narrowed.failed)
			buf_addf(&missing, " (%s)", narrowed.data);
	}
	if (!count)
		return 0;
	return err_set(e, "machine \"%s\" needs %zu more parameter%s:%s", machine->name, count,
		count > 1 ? "s" : "", missing.failed ? " see --help" : missing.data);
}

static int no_parameter(const struct machine *machine, const char *name, struct err *e)
{
	const struct doc_node *map = machine->vars_map[OWNER_OPERATOR];
	AUTO_FREE const char **names = calloc(map ? map->count + 1 : 1, sizeof(*names));
	for (uint32_t i = 0; names && map && i < map->count; i++)
		names[i] = map->pairs[i].key.text;
	const char *near = names && map ? suggest_name(name, names, map->count) : NULL;
	return err_set(e, "machine \"%s\" has no operator variable \"%s\"%s%s%s", machine->name,
		name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static const struct variable *parameter(
	const struct machine *machine, const char *name, struct err *e)
{
	const struct variable *v = machine_variable(machine, name);
	if (!v) {
		no_parameter(machine, name, e);
		return NULL;
	}
	if (v->owner != OWNER_OPERATOR) {
		err_set(e, "\"%s\" belongs to `%s`; only operator variables can be set at start",
			name, owner_name(v->owner));
		return NULL;
	}
	return v;
}

/* Checks a value that replaces a declared timing by the rules for the declared one. */
static const char *timing_problem(
	const struct machine *machine, const struct variable *variable, const json_t *value)
{
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct wait_state *wait = state_wait(&machine->states[i]);
		if (!wait)
			continue;
		const struct template *every = wait->every_ref, *until = wait->until_ref;
		const struct ref *ref = every   ? template_lone(every)
					: until ? template_lone(until)
						: NULL;
		if (!ref || ref->root != variable)
			continue;
		const json_t *timing = ref_within(ref, value);
		const char *problem =
			every ? wait_every_problem(timing) : wait_until_problem(timing);
		if (problem)
			return problem;
	}
	return NULL;
}

/* Returns a field that `declared` has and `value` lacks; NULL: none. A field that only one of them
 * sets may not be read. */
static const char *lost_field(const json_t *declared, const json_t *value)
{
	const char *key, *lost = NULL;
	json_t *item;
	json_object_foreach ((json_t *)(uintptr_t)declared, key, item) {
		const json_t *other = json_object_get(value, key);
		if (!lost)
			lost = other ? lost_field(item, other) : key;
	}
	return lost;
}

int blackboard_set_parameter(const struct machine *machine, json_t *blackboard, const char *name,
	const json_t *value, enum value_mode mode, struct err *e)
{
	const struct variable *v = parameter(machine, name, e);
	if (!v)
		return -1;
	AUTO_BUF problems = BUF_INIT(64 * 1024);
	struct demand demand = {v->type, &v->constraint, mode};
	if (demand_check(&demand, value, name, &problems))
		return err_set(e, "%.*s", (int)strcspn(problems.data, "\n"), problems.data);
	const char *lost = v->type.kind == TYPE_RECORD ? lost_field(v->initial, value) : NULL;
	if (lost)
		return err_set(e, "%s: the field \"%s\" is missing, which the declared value has",
			name, lost);
	const char *problem = timing_problem(machine, v, value);
	if (problem)
		return err_set(e, "%s: %s", name, problem);
	if (fixed_check(machine, v, value, e))
		return -1;
	json_object_set_new(blackboard, name, json_deep_copy(value));
	return 0;
}

json_t *blackboard_parse_parameter(
	const struct machine *machine, const char *name, const char *text, struct err *e)
{
	const struct variable *v = parameter(machine, name, e);
	if (!v)
		return NULL;
	if (v->type.kind == TYPE_STR) {
		json_t *value = json_string(text);
		if (!value)
			err_set(e, "%s: the value is not valid UTF-8", name);
		return value;
	}
	json_t *value = json_read(text, strlen(text), PARAMETER_BYTES_MAX, NULL);
	if (!value)
		err_set(e, "'%.80s' is not of type %s; all but a str is written as JSON", text,
			type_name(v->type));
	return value;
}

int blackboard_capture(const struct state *state, const struct captured *captured,
	json_t *blackboard, struct err *e)
{
	json_auto_t *changes = json_object();
	if (state->capture.whole)
		json_object_set(
			changes, state->capture.whole->name, (json_t *)(uintptr_t)captured->result);
	for (size_t i = 0; i < state->capture.set_count; i++) {
		const struct assignment *a = &state->capture.set[i];
		if (captured->keeps && template_lacks(a->value, captured->result))
			continue;
		json_t *value = template_value(a->value, blackboard, captured, e);
		if (!value)
			return err_wrap(e, "capture of \"%s\"", a->target->name);
		json_object_set_new(changes, a->target->name, value);
	}
	return json_object_update(blackboard, changes);
}

void blackboard_capture_failure(
	const struct state *state, const json_t *failure, json_t *blackboard)
{
	json_auto_t *changes = json_object();
	struct captured captured = {.failure = failure};
	for (size_t i = 0; i < state->failure.set_count; i++) {
		const struct assignment *a = &state->failure.set[i];
		json_t *value = template_value(a->value, blackboard, &captured, NULL);
		if (value)
			json_object_set_new(changes, a->target->name, value);
	}
	json_object_update(blackboard, changes);
}
