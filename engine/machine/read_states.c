#include "machine/defaults.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/reader.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES_MAX = 4096 };

/* Reports whether a state has this name apart from capitals, and the name was refused. */
static bool is_refused_name(const struct reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->m->state_count && i < CANDIDATES_MAX; i++) {
		const char *refused = reader->m->states[i].name;
		if (!strcasecmp(refused, name) && !identifier_ok(refused, strlen(refused)))
			return true;
	}
	return false;
}

const struct state *read_target(
	struct reader *reader, const struct doc_node *node, const struct state *from)
{
	bool named = node && node->kind == DOC_STR;
	const struct state *target = named ? machine_state(reader->m, node->text) : NULL;
	if (from && !target)
		reader->loose[from->index] = true;
	if (target || !named || reader->m->states_broken || is_refused_name(reader, node->text))
		return target;
	struct site site = reader_site(reader, node, from);
	struct finding *f =
		site_report(&site, RULE_UNKNOWN_STATE, "there is no state \"%s\"", node->text);
	const char *names[CANDIDATES_MAX];
	size_t count =
		reader->m->state_count < CANDIDATES_MAX ? reader->m->state_count : CANDIDATES_MAX;
	for (size_t i = 0; i < count; i++)
		names[i] = reader->m->states[i].name;
	site_did_you_mean(&site, f, node->text, names, count);
	site_say_known(&site, f, names, count);
	return NULL;
}

void read_edges(struct reader *reader, struct state *state)
{
	const struct doc_node *on = reader_value(reader, state->node, "on");
	if (!on) {
		reader->loose[state->index] = true;
		return;
	}
	unsigned outcomes = kind_of(state)->outcomes(state);
	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		if (outcomes & 1u << i)
			state->on[i] = read_target(reader, doc_get(on, outcome_name(i)), state);
}

static void read_retry(struct reader *reader, struct state *state)
{
	const struct doc_node *map = reader_get(reader, state->node, "retry", DOC_MAP);
	size_t count;
	const char *const *labels = reader_texts(reader, map, "on", &count);
	for (size_t i = 0; i < count; i++) {
		enum outcome outcome = outcome_find(labels[i]);
		state->retry.on |= outcome == OUTCOME_COUNT ? 0 : 1u << outcome;
	}
	struct opt_float backoff = reader_float(reader, map, "backoff_secs");
	struct opt_float factor = reader_float(reader, map, "factor");
	struct opt_float most = reader_float(reader, map, "max_backoff_secs");
	const struct doc_node *jitter = reader_get(reader, map, "jitter", DOC_BOOL);
	state->retry.max = (int)reader_int(reader, map, "max").value;
	state->retry.backoff_secs = backoff.present ? backoff.value : 1;
	state->retry.factor = factor.present ? factor.value : 2;
	state->retry.max_backoff_secs = most.present ? most.value : INFINITY;
	state->retry.jitter = jitter && jitter->boolean;
}

static void read_notify(struct reader *reader, struct state *state)
{
	const struct doc_node *notify = reader_value(reader, state->node, "notify");
	if (!notify)
		return;
	if (notify->kind == DOC_STR)
		state->notify = reader_template(reader, state->node, "notify", state);
	else
		state->notify = reader_template(reader, notify, "message", state);
	enum notify_level level = notify_level_find(reader_text(reader, notify, "level"));
	if (level != NOTIFY_LEVEL_COUNT)
		state->notify_level = level;
}

void read_output_schema(struct reader *reader, struct state *state)
{
	const struct doc_node *node = reader_get(reader, state->node, "output_schema", DOC_STR);
	if (!node)
		return;
	const struct doc_pair *pair = doc_pair(reader->m->schemas_map, node->text);
	if (!pair)
		reader_unknown_schema(reader, node, state);
	else
		state->output_schema = reader_record(reader, pair);
}

void read_work(struct reader *reader, struct state *state)
{
	state->timeout_secs =
		fixed_int(reader, state, FIXED_TIMEOUT_SECS, &state->timeout_parameter).value;
	read_output_schema(reader, state);
	read_capture(reader, state);
	read_capture_failure(reader, state);
	read_retry(reader, state);
}

static void report_limit(struct reader *reader, const struct state *state,
	const struct doc_pair *limit, const struct doc_pair *target)
{
	struct site site = reader_site(reader, target ? &target->key : &limit->key, state);
	if (target)
		site_help(&site,
			site_report(&site, RULE_EXHAUSTED_WITHOUT_LIMIT,
				"a state without `max_visits` never has the outcome `exhausted`"),
			"remove it, or add `max_visits`");
	else
		site_help(&site,
			site_report(&site, RULE_MISSING_EXHAUSTED,
				"a state with `max_visits` needs a state for the outcome "
				"`exhausted`"),
			"%s",
			state->clauses ? "add `exhausted: STATE` beside `when`"
			: state_is(state, TRAIT_DEFAULTS)
				? "add `exhausted: STATE` to `on`, here or in `defaults`"
				: "add `exhausted: STATE` to `on`");
}

/* Reads max_visits, and the state behind `exhausted`: in `on`, or beside a branch's clauses. */
static void read_visits(struct reader *reader, struct state *state)
{
	const struct doc_pair *limit = reader_pair(reader, state->node, "max_visits");
	const struct doc_node *on =
		state->clauses ? state->node : reader_value(reader, state->node, "on");
	const struct doc_pair *target = doc_pair(on, outcome_name(OUTCOME_EXHAUSTED));
	state->max_visits =
		fixed_int(reader, state, FIXED_MAX_VISITS, &state->visits_parameter).value;
	if (state->max_visits)
		reader->m->journal_format = JOURNAL_FORMAT_LAST;
	if (target && state_is(state, TRAIT_ENDS))
		return;
	if (target)
		state->on[OUTCOME_EXHAUSTED] = read_target(reader, &target->value, state);
	if (!on || !limit == !target || state_is(state, TRAIT_ENDS) || state->kind == KIND_COUNT)
		return;
	reader->loose[state->index] |= !target;
	if (target ? !reader_misspelt(state->node, "max_visits")
		   : !reader_misspelt(on, "exhausted"))
		report_limit(reader, state, limit, target);
}

static void read_state(struct reader *reader, struct state *state)
{
	state->description = reader_text(reader, state->node, "description");
	read_notify(reader, state);
	kind_of(state)->read(reader, state);
	read_visits(reader, state);
}

static enum state_kind read_kind(const struct doc_node *state)
{
	const struct doc_node *kind = doc_get(state, "kind");
	enum state_kind k = 0;
	while (k < KIND_COUNT &&
		(!kind || kind->kind != DOC_STR || strcmp(kind->text, state_kind_name(k)) != 0))
		k++;
	return k;
}

/* Returns the first state in that map. */
static const struct doc_node *state_in(const struct doc_node *map)
{
	for (uint32_t i = 0; map && map->kind == DOC_MAP && i < map->count; i++)
		if (read_kind(&map->pairs[i].value) != KIND_COUNT)
			return &map->pairs[i].key;
	return NULL;
}

bool read_states_elsewhere(const struct doc *doc, struct findings *findings)
{
	static const char *const sections[] = {"budget", "config", "schemas", "vars"};
	if (doc_get(doc->root, "states") || doc->root->partial)
		return false;
	const struct doc_node *state = state_in(doc->root);
	for (size_t i = 0; !state && i < ARRAY_LEN(sections); i++)
		state = state_in(doc_get(doc->root, sections[i]));
	if (!state)
		return false;
	struct finding *it = finding_add(findings, RULE_MISSING_KEY, doc, state,
		"the document needs the key `states`; `%.64s` is a state", state->text);
	finding_help(findings, it, "put it and the other states under `states:`");
	return true;
}

void read_states(struct reader *reader)
{
	struct machine *m = reader->m;
	m->states_map = reader_get(reader, reader->doc->root, "states", DOC_MAP);
	m->state_count = m->states_map ? m->states_map->count : 0;
	m->states_broken = !m->state_count || m->states_map->partial;
	reader->states = arena_array(&m->arena, m->state_count, sizeof(*reader->states));
	reader->loose = arena_array(&m->arena, m->state_count + 1, sizeof(*reader->loose));
	m->states = reader->states;
	for (size_t i = 0; i < m->state_count; i++) {
		const struct doc_pair *pair = &m->states_map->pairs[i];
		reader->states[i] = (struct state){.name = pair->key.text,
			.kind = read_kind(&pair->value),
			.index = i,
			.node = &pair->value,
			.key = &pair->key};
	}
	for (size_t i = 0; i < m->state_count; i++)
		read_state(reader, &reader->states[i]);
	defaults_check(reader);
	m->initial = read_target(reader, doc_get(reader->doc->root, "initial"), NULL);
}
