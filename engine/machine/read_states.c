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

/* Returns the state that string `node` names. NULL: an error was reported, and `from` is loose. */
static const struct state *target_of(
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

/* Checks the label `tick`, the only one that depends on more than the kind. The shape check has
 * reported other missing and foreign labels. */
static void check_tick(struct reader *reader, const struct state *state, const struct doc_pair *on)
{
	const struct doc_pair *tick = doc_pair(&on->value, outcome_name(OUTCOME_TICK));
	if (on->value.kind != DOC_MAP || state->wait.timed == (tick != NULL) ||
		reader_value(reader, state->node, "cron"))
		return;
	if (!tick)
		reader->loose[state->index] = true;
	bool signal = doc_pair(&on->value, outcome_name(OUTCOME_SIGNAL)) !=
		      NULL; /* the only other label */
	if (tick ? reader_misspelt(state->node, "every_secs") ||
				reader_misspelt(state->node, "until")
		 : on->value.partial || on->value.count > signal)
		return;
	struct site site = reader_site(reader, tick ? &tick->key : &on->key, state);
	struct finding *f =
		tick ? site_report(&site, RULE_TICK_WITHOUT_TIMER,
			       "a wait without a timer never has the outcome `tick`")
		     : site_report(&site, RULE_MISSING_TICK,
			       "a wait with a timer needs a state for the outcome `tick`");
	site_help(
		&site, f, tick ? "remove it, or add `every_secs` or `until`" : "add `tick: STATE`");
}

static void read_edges(struct reader *reader, struct state *state)
{
	const struct doc_pair *on = reader_pair(reader, state->node, "on");
	if (!on) {
		reader->loose[state->index] = true;
		return;
	}
	if (state->kind == KIND_WAIT)
		check_tick(reader, state, on);
	/* A `tick` without a timer still tells which state its author wants to reach. */
	unsigned labels = outcomes_of(state->kind,
		state->kind == KIND_WAIT && doc_pair(&on->value, outcome_name(OUTCOME_TICK)));
	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		if (labels & 1u << i)
			state->on[i] =
				target_of(reader, doc_get(&on->value, outcome_name(i)), state);
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
	static const char *const levels[] = {
		[NOTIFY_INFO] = "info", [NOTIFY_WARN] = "warn", [NOTIFY_ERROR] = "error"};
	const struct doc_node *notify = reader_value(reader, state->node, "notify");
	if (!notify)
		return;
	if (notify->kind == DOC_STR)
		state->notify = reader_template(reader, state->node, "notify", state);
	else
		state->notify = reader_template(reader, notify, "message", state);
	const char *level = reader_text(reader, notify, "level");
	for (unsigned i = 0; level && i < ARRAY_LEN(levels); i++)
		if (strcmp(levels[i], level) == 0)
			state->notify_level = i;
}

static void read_output_schema(struct reader *reader, struct state *state)
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

static void read_work(struct reader *reader, struct state *state)
{
	state->timeout_secs = reader_int(reader, state->node, "timeout_secs").value;
	read_output_schema(reader, state);
	read_capture(reader, state);
	read_retry(reader, state);
}

/* Returns the first clause with `else`; their count if none has it. */
static uint32_t first_else(const struct doc_node *when)
{
	uint32_t i = 0;
	while (i < when->count && !doc_pair(&when->items[i], "else"))
		i++;
	return i;
}

/* Checks clause `i` of `count`: only the last one is `else`, and it must be. An `else` that comes
 * too early is not reported as missing as well. A clause with neither key or both has been
 * reported. */
static void check_else(
	struct reader *reader, const struct state *state, const struct doc_node *when, uint32_t i)
{
	const struct doc_node *clause = &when->items[i];
	bool last = i + 1 == when->count, is_else = doc_pair(clause, "else") != NULL;
	if (clause->kind != DOC_MAP || last == is_else)
		return;
	if (is_else == (doc_pair(clause, "if") != NULL) || (last && first_else(when) < when->count))
		return;
	struct site site = reader_site(reader, clause, state);
	if (last) {
		struct finding *f = site_report(
			&site, RULE_MISSING_ELSE, "the last clause of a branch must be `else`");
		site_help(&site, f, "add `- {else: true, goto: STATE}` behind it");
		reader->loose[state->index] = true;
		return;
	}
	site.node = &doc_pair(clause, "else")->key;
	struct finding *f = site_report(
		&site, RULE_MISPLACED_ELSE, "`else` always fires, so no clause behind it ever can");
	site_help(&site, f, "move it to the end, and keep only one");
}

static void read_branch(struct reader *reader, struct state *state)
{
	const struct doc_node *when = reader_get(reader, state->node, "when", DOC_LIST);
	if (!when || !when->count) {
		reader->loose[state->index] = true;
		return;
	}
	struct clause *clauses = arena_array(&reader->m->arena, when->count, sizeof(*clauses));
	for (uint32_t i = 0; i < when->count; i++) {
		const struct doc_node *condition =
			reader_get(reader, &when->items[i], "if", DOC_STR);
		struct site site = reader_site(reader, condition, state);
		check_else(reader, state, when, i);
		clauses[i].text = condition ? condition->text : "else";
		clauses[i].node = condition;
		if (condition)
			clauses[i].condition = predicate_compile(&reader->scope, &site);
		clauses[i].target = target_of(reader, doc_get(&when->items[i], "goto"), state);
	}
	state->branch.clauses = clauses;
	state->branch.clause_count = when->count;
}

static void read_terminal(struct reader *reader, struct state *state)
{
	const char *status = reader_text(reader, state->node, "status");
	state->terminal.ok = status && strcmp(status, "ok") == 0;
	state->terminal.reason = reader_template(reader, state->node, "reason", state);
}

static void read_state(struct reader *reader, struct state *state)
{
	state->description = reader_text(reader, state->node, "description");
	read_notify(reader, state);
	switch (state->kind) {
	case KIND_AGENT:
		read_work(reader, state);
		read_agent(reader, state);
		break;
	case KIND_TOOL:
		read_work(reader, state);
		read_tool(reader, state);
		break;
	case KIND_WAIT: read_wait(reader, state); break;
	case KIND_BRANCH: read_branch(reader, state); return;
	case KIND_TERMINAL: read_terminal(reader, state); return;
	case KIND_COUNT: reader->loose[state->index] = true; return;
	}
	read_edges(reader, state);
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
	m->initial = target_of(reader, doc_get(reader->doc->root, "initial"), NULL);
}
