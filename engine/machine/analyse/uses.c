#include "machine/analyse/analyse.h"
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

static void note_written(struct uses *u, const struct state *s, const struct variable *v)
{
	const struct state **first = &u->written[v - u->m->variables];
	if (!*first)
		*first = s;
}

static void mark_record(struct uses *u, struct type t)
{
	if (t.kind != TYPE_RECORD)
		return;
	/* Every record stands in one array, in the order of the map. */
	size_t index = (size_t)(t.record - u->m->records[0]);
	if (u->schema[index])
		return;
	u->schema[index] = true;
	for (size_t i = 0; i < t.record->field_count; i++)
		mark_record(u, t.record->fields[i].type);
}

static void visit_state(struct uses *u, const struct state *s)
{
	state_entry_refs(s, note_read, u);
	state_condition_refs(s, note_read, u);
	state_capture_refs(s, note_read, u);
	if (s->capture.whole)
		note_written(u, s, s->capture.whole);
	for (size_t i = 0; i < s->capture.set_count; i++)
		note_written(u, s, s->capture.set[i].target);
	if (s->output_schema)
		mark_record(u, (struct type){.kind = TYPE_RECORD, .record = s->output_schema});
}

/* Where the state's capture names the variable. */
static const struct doc_node *capture_node(const struct state *s, const struct variable *v)
{
	const struct doc_node *capture = doc_get(s->node, "capture");
	const struct doc_pair *target = doc_pair(doc_get(capture, "set"), v->name);
	if (target)
		return &target->key;
	return doc_get(capture, s->kind == KIND_AGENT ? "finish_json" : "stdout_json");
}

static void report_variable(struct uses *u, size_t i)
{
	const struct variable *v = &u->m->variables[i];
	struct site site = {.findings = u->findings, .doc = u->m->doc, .node = v->node};
	if (u->read[i])
		return;
	if (!u->written[i]) {
		struct finding *f = site_report(&site, RULE_UNUSED_VARIABLE,
			"variable \"%s\" is never read or written", v->name);
		site_help(&site, f, "remove it");
		return;
	}
	site.state = u->written[i]->name;
	site.node = capture_node(u->written[i], v);
	struct finding *f = site_report(&site, RULE_UNREAD_CAPTURE,
		"\"%s\" is captured, but nothing ever reads it", v->name);
	site_help(&site, f, "remove the capture, or use the variable");
}

static void report_schemas(struct uses *u)
{
	for (size_t i = 0; i < u->m->record_count; i++) {
		const struct doc_node *key = &u->m->schemas_map->pairs[i].key;
		struct site site = {.findings = u->findings, .doc = u->m->doc, .node = key};
		if (u->schema[i])
			continue;
		struct finding *f = site_report(&site, RULE_UNUSED_SCHEMA,
			"schema \"%s\" is used by no variable and no state", key->text);
		site_help(&site, f, "remove it");
	}
}

void analyse_uses(const struct machine *m, struct findings *findings)
{
	struct uses u = {.m = m, .findings = findings};
	arena_init(&u.arena);
	u.read = arena_array(&u.arena, m->variable_count, sizeof(bool));
	u.written = arena_array(&u.arena, m->variable_count, sizeof(*u.written));
	u.schema = arena_array(&u.arena, m->record_count, sizeof(bool));
	for (size_t i = 0; i < m->variable_count; i++)
		mark_record(&u, m->variables[i].type);
	/* What only an unused schema nests goes when that goes: one mistake, one warning. */
	for (size_t i = 0; i < m->record_count; i++)
		for (size_t f = 0; f < m->records[i]->field_count; f++)
			mark_record(&u, m->records[i]->fields[f].type);
	for (size_t i = 0; i < m->state_count; i++)
		visit_state(&u, &m->states[i]);
	for (size_t i = 0; i < m->variable_count; i++)
		report_variable(&u, i);
	report_schemas(&u);
	arena_done(&u.arena);
}
