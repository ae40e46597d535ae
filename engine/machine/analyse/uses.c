#include "machine/analyse/analyse.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/site.h"
#include "machine/visit.h"

struct uses {
	const struct machine *m;
	struct findings *findings;
	struct arena arena;
	bool *read;                   /* by variable */
	const struct state **written; /* by variable: the first state that captures it */
	bool *schema;                 /* by record */
};

static void note_read(void *ctx, const struct ref *ref, const char *source)
{
	struct uses *u = ctx;
	(void)source;
	if (ref->root)
		u->read[ref->root - u->m->variables] = true;
}

static void note_written(
	struct uses *uses, const struct state *state, const struct variable *variable)
{
	const struct state **first = &uses->written[variable - uses->m->variables];
	if (!*first)
		*first = state;
}

static void mark_record(struct uses *uses, struct type t)
{
	if (t.kind != TYPE_RECORD && !type_lists_records(t))
		return;
	/* All records lie in one array, in the order of the map. */
	size_t index = (size_t)(t.record - uses->m->records[0]);
	if (uses->schema[index])
		return;
	uses->schema[index] = true;
	for (size_t i = 0; i < t.record->field_count; i++)
		mark_record(uses, t.record->fields[i].type);
}

static void visit_state(struct uses *uses, const struct state *state)
{
	state_entry_refs(state, note_read, uses);
	state_condition_refs(state, note_read, uses);
	state_capture_refs(state, note_read, uses);
	state_failure_refs(state, note_read, uses);
	if (state->capture.whole)
		note_written(uses, state, state->capture.whole);
	for (size_t i = 0; i < state->capture.set_count; i++)
		note_written(uses, state, state->capture.set[i].target);
	for (size_t i = 0; i < state->failure.set_count; i++)
		note_written(uses, state, state->failure.set[i].target);
	if (state->output_schema)
		mark_record(
			uses, (struct type){.kind = TYPE_RECORD, .record = state->output_schema});
}

/* Returns the node at which the state's capture names the variable. */
static const struct doc_node *capture_node(
	const struct state *state, const struct variable *variable)
{
	const struct doc_node *capture = doc_get(state->node, "capture");
	const struct doc_pair *target = doc_pair(doc_get(capture, "set"), variable->name);
	if (!target && state->capture.whole != variable)
		target = doc_pair(
			doc_get(doc_get(state->node, "capture_failure"), "set"), variable->name);
	if (target)
		return &target->key;
	const struct kind_result *result = state_result(state);
	const char *key = state->capture.as_text ? result->text : result->whole;
	return key ? doc_get(capture, key) : NULL;
}

static void report_variable(struct uses *uses, size_t i)
{
	const struct variable *v = &uses->m->variables[i];
	struct site site = {.findings = uses->findings, .doc = uses->m->doc, .node = v->node};
	if (uses->read[i])
		return;
	if (!uses->written[i]) {
		struct finding *f = site_report(&site, RULE_UNUSED_VARIABLE,
			"variable \"%s\" is never read or written", v->name);
		site_help(&site, f, "remove it");
		return;
	}
	site.state = uses->written[i]->name;
	site.node = capture_node(uses->written[i], v);
	struct finding *f = site_report(&site, RULE_UNREAD_CAPTURE,
		"\"%s\" is captured, but nothing ever reads it", v->name);
	site_help(&site, f, "remove the capture, or use the variable");
}

static void report_schemas(struct uses *uses)
{
	for (size_t i = 0; i < uses->m->record_count; i++) {
		const struct doc_node *key = &uses->m->schemas_map->pairs[i].key;
		struct site site = {.findings = uses->findings, .doc = uses->m->doc, .node = key};
		if (uses->schema[i])
			continue;
		struct finding *f = site_report(&site, RULE_UNUSED_SCHEMA,
			"schema \"%s\" is used by no variable and no state", key->text);
		site_help(&site, f, "remove it");
	}
}

void analyse_uses(const struct machine *machine, struct findings *findings)
{
	struct uses u = {.m = machine, .findings = findings};
	arena_init(&u.arena);
	u.read = arena_array(&u.arena, machine->variable_count, sizeof(bool));
	u.written = arena_array(&u.arena, machine->variable_count, sizeof(*u.written));
	u.schema = arena_array(&u.arena, machine->record_count, sizeof(bool));
	for (size_t i = 0; i < machine->variable_count; i++)
		mark_record(&u, machine->variables[i].type);
	if (machine->result)
		mark_record(&u, (struct type){.kind = TYPE_RECORD, .record = machine->result});
	/* A schema that only an unused schema nests needs no warning of its own: one mistake, one
	 * warning. */
	for (size_t i = 0; i < machine->record_count; i++)
		for (size_t f = 0; f < machine->records[i]->field_count; f++)
			mark_record(&u, machine->records[i]->fields[f].type);
	for (size_t i = 0; i < machine->state_count; i++)
		visit_state(&u, &machine->states[i]);
	for (const struct fixed_use *use = machine->fixed; use; use = use->next)
		u.read[use->parameter - machine->variables] = true;
	for (size_t i = 0; i < machine->variable_count; i++)
		report_variable(&u, i);
	report_schemas(&u);
	arena_done(&u.arena);
}
