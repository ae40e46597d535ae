#include "machine/defaults.h"
#include "machine/fixed.h"
#include "machine/reader.h"
#include "machine/trust.h"

#include "base/suggest.h"
#include "schema/shape.h"
#include <string.h>

struct site reader_site(
	const struct reader *reader, const struct doc_node *node, const struct state *state)
{
	return (struct site){.findings = reader->findings,
		.doc = reader->doc,
		.node = node,
		.state = state ? state->name : NULL};
}

const struct doc_pair *reader_pair(
	const struct reader *reader, const struct doc_node *map, const char *key)
{
	struct letters *l = reader->letters;
	if (!map || map->kind != DOC_MAP)
		return NULL;
	if (l->map != map) {
		*l = (struct letters){.map = map};
		for (uint32_t i = 0; i < map->count; i++)
			l->present |= 1u << (map->pairs[i].key.text[0] & 31);
	}
	return l->present >> (key[0] & 31) & 1 ? doc_pair(map, key) : NULL;
}

const struct doc_node *reader_value(
	const struct reader *reader, const struct doc_node *map, const char *key)
{
	const struct doc_pair *pair = reader_pair(reader, map, key);
	return pair ? &pair->value : NULL;
}

const struct doc_node *reader_get(const struct reader *reader, const struct doc_node *map,
	const char *key, enum doc_kind kind)
{
	const struct doc_node *node = reader_value(reader, map, key);
	return node && node->kind == kind ? node : NULL;
}

const char *reader_text(const struct reader *reader, const struct doc_node *map, const char *key)
{
	const struct doc_node *node = reader_get(reader, map, key, DOC_STR);
	return node ? node->text : NULL;
}

struct opt_int reader_int(const struct reader *reader, const struct doc_node *map, const char *key)
{
	const struct doc_node *node = reader_get(reader, map, key, DOC_INT);
	return node ? (struct opt_int){true, node->integer} : (struct opt_int){0};
}

struct opt_float reader_float(
	const struct reader *reader, const struct doc_node *map, const char *key)
{
	const struct doc_node *node = reader_value(reader, map, key);
	if (node && node->kind == DOC_INT)
		return (struct opt_float){true, (double)node->integer};
	if (node && node->kind == DOC_FLOAT)
		return (struct opt_float){true, node->number};
	return (struct opt_float){0};
}

const struct template *reader_template(const struct reader *reader, const struct doc_node *map,
	const char *key, const struct state *state)
{
	const struct doc_node *node = reader_get(reader, map, key, DOC_STR);
	if (!node)
		return NULL;
	struct site site = reader_site(reader, node, state);
	return template_compile(&reader->scope, &site, TEMPLATE_TEXT);
}

bool reader_misspelt(const struct doc_node *map, const char *key)
{
	if (!map || map->kind != DOC_MAP || doc_pair(map, key))
		return false;
	if (map->partial)
		return true; /* a key that the reader refused */
	for (uint32_t i = 0; i < map->count; i++)
		if (suggest_word(map->pairs[i].key.text, &key, 1))
			return true;
	return false;
}

void reader_note_spelling(const struct reader *reader, const struct state *state, const char *other,
	const char *ours, const char *meaning)
{
	const struct doc_pair *pair = reader_pair(reader, state->node, other);
	if (!pair || (ours && reader_pair(reader, state->node, ours)))
		return;
	struct site site = reader_site(reader, &pair->key, state);
	site_report(&site, RULE_OTHER_SPELLING, "`%s` is understood as %s", other, meaning);
}

const char *const *reader_texts(
	const struct reader *reader, const struct doc_node *map, const char *key, size_t *count)
{
	const struct doc_node *list = reader_get(reader, map, key, DOC_LIST);
	*count = 0;
	if (!list || !list->count)
		return NULL;
	const char **texts = arena_array(&reader->m->arena, list->count, sizeof(*texts));
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i].kind == DOC_STR)
			texts[(*count)++] = list->items[i].text;
	return texts;
}

static void read_budget(struct reader *reader)
{
	const struct doc_node *budget = doc_get(reader->doc->root, "budget");
	reader->m->max_transitions = reader_int(reader, budget, "max_transitions").value;
	reader->m->max_secs = reader_int(reader, budget, "max_secs").value;
	reader->m->max_usd = fixed_float(reader, NULL, budget, &reader->m->usd_parameter);
	reader->m->best_effort_usd = reader_float(reader, budget, "best_effort_usd_limit");
}

static void read_header(struct reader *reader)
{
	const struct doc_node *root = reader->doc->root;
	reader->m->name = reader_text(reader, root, "machine");
	reader->m->description = reader_text(reader, root, "description");
	reader->m->config = doc_get(root, "config");
}

static void mark_untrusted(struct reader *reader)
{
	struct trust trust;
	trust_init(&trust, reader->m);
	for (size_t i = 0; i < reader->m->variable_count; i++)
		reader->variables[i].untrusted =
			trust_origin(&trust, &reader->variables[i])->writer != NULL;
	trust_done(&trust);
}

static struct machine *machine_new(void)
{
	struct machine *m = calloc(1, sizeof(*m));
	if (!m)
		abort();
	arena_init(&m->arena);
	m->journal_format = JOURNAL_FORMAT_FIRST;
	return m;
}

/* Reports whether the reader refused this document; others may have errors in the same
 * collection. */
static bool unreadable(const struct findings *findings, const struct doc *doc)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].severity == SEVERITY_ERROR &&
			strcmp(findings->items[i].file, doc->file) == 0)
			return true;
	return !doc->root || findings->dropped;
}

struct machine *machine_read(const struct doc *doc, const struct member_files *files,
	struct findings *findings, bool *whole)
{
	bool refused = unreadable(findings, doc);
	size_t errors = findings->errors, before = findings->count;
	*whole = false;
	if (!doc->root || read_states_elsewhere(doc, findings))
		return NULL;
	struct machine *m = machine_new();
	doc = m->doc = defaults_fill(doc, &m->arena);
	shape_check(shape_machine, doc, doc->root, findings);
	if (doc->root->kind != DOC_MAP) {
		machine_free(m);
		return NULL;
	}
	struct prompt_docs own = {0};
	struct letters letters = {0};
	struct reader r = {.m = m,
		.doc = doc,
		.files = files,
		.findings = findings,
		.scope = {.machine = m, .arena = &m->arena},
		.members = json_object(),
		.no_types = json_object(),
		.prompts = files && files->prompts ? files->prompts : &own,
		.letters = &letters};
	read_header(&r);
	read_schemas(&r);
	read_variables(&r);
	read_budget(&r);
	read_result(&r);
	read_states(&r);
	check_graph(&r);
	findings_merge(findings, before);
	json_decref(r.members);
	json_decref(r.no_types);
	prompt_docs_done(&own);
	*whole = !refused && findings->errors == errors;
	if (*whole)
		mark_untrusted(&r);
	return m;
}
