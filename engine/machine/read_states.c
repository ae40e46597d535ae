#include "machine/reader.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES_MAX = 4096 };

/* Whether a state is called so but for what its name was found fault with. */
static bool is_refused_name(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->m->state_count && i < CANDIDATES_MAX; i++) {
		const char *refused = r->m->states[i].name;
		if (!strcasecmp(refused, name) && !identifier_ok(refused, strlen(refused)))
			return true;
	}
	return false;
}

/* The state that string `node` names, or NULL: reported, and `from` is loose. */
static const struct state *target_of(
	struct reader *r, const struct doc_node *node, const struct state *from)
{
	bool named = node && node->kind == DOC_STR;
	const struct state *target = named ? machine_state(r->m, node->text) : NULL;
	if (from && !target)
		r->loose[from->index] = true;
	if (target || !named || r->m->states_broken || is_refused_name(r, node->text))
		return target;
	struct site site = reader_site(r, node, from);
	struct finding *f =
		site_report(&site, RULE_UNKNOWN_STATE, "there is no state \"%s\"", node->text);
	const char *names[CANDIDATES_MAX];
	size_t count = r->m->state_count < CANDIDATES_MAX ? r->m->state_count : CANDIDATES_MAX;
	for (size_t i = 0; i < count; i++)
		names[i] = r->m->states[i].name;
	site_did_you_mean(&site, f, node->text, names, count);
	site_say_known(&site, f, names, count);
	return NULL;
}

/* The shape has seen to missing and foreign labels; only `tick` depends on more than the kind. */
static void check_tick(struct reader *r, const struct state *s, const struct doc_pair *on)
{
	const struct doc_pair *tick = doc_pair(&on->value, "tick");
	if (on->value.kind != DOC_MAP || s->wait.timed == (tick != NULL) ||
		reader_value(r, s->node, "cron"))
		return;
	if (!tick)
		r->loose[s->index] = true;
	bool signal = doc_pair(&on->value, "signal") != NULL; /* the only other label */
	if (tick ? reader_misspelt(s->node, "every_secs") || reader_misspelt(s->node, "until")
		 : on->value.partial || on->value.count > signal)
		return;
	struct site site = reader_site(r, tick ? &tick->key : &on->key, s);
	struct finding *f =
		tick ? site_report(&site, RULE_TICK_WITHOUT_TIMER,
			       "a wait without a timer never has the outcome `tick`")
		     : site_report(&site, RULE_MISSING_TICK,
			       "a wait with a timer needs a state for the outcome `tick`");
	site_help(
		&site, f, tick ? "remove it, or add `every_secs` or `until`" : "add `tick: STATE`");
}

static void read_edges(struct reader *r, struct state *s)
{
	const struct doc_pair *on = reader_pair(r, s->node, "on");
	if (!on) {
		r->loose[s->index] = true;
		return;
	}
	if (s->kind == KIND_WAIT)
		check_tick(r, s, on);
	/* A `tick` without its timer still says what its author wants to reach. */
	unsigned labels =
		outcomes_of(s->kind, s->kind == KIND_WAIT && doc_pair(&on->value, "tick"));
	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		if (labels & 1u << i)
			s->on[i] = target_of(r, doc_get(&on->value, outcome_name(i)), s);
}

static void read_retry(struct reader *r, struct state *s)
{
	const struct doc_node *map = reader_get(r, s->node, "retry", DOC_MAP);
	size_t count;
	const char *const *labels = reader_texts(r, map, "on", &count);
	for (size_t i = 0; i < count; i++) {
		int outcome = outcome_parse(labels[i]);
		s->retry.on |= outcome < 0 ? 0 : 1u << outcome;
	}
	struct opt_float backoff = reader_float(r, map, "backoff_secs");
	struct opt_float factor = reader_float(r, map, "factor");
	struct opt_float most = reader_float(r, map, "max_backoff_secs");
	const struct doc_node *jitter = reader_get(r, map, "jitter", DOC_BOOL);
	s->retry.max = (int)reader_int(r, map, "max").value;
	s->retry.backoff_secs = backoff.present ? backoff.value : 1;
	s->retry.factor = factor.present ? factor.value : 2;
	s->retry.max_backoff_secs = most.present ? most.value : INFINITY;
	s->retry.jitter = jitter && jitter->boolean;
}

static void read_notify(struct reader *r, struct state *s)
{
	static const char *const levels[] = {
		[NOTIFY_INFO] = "info", [NOTIFY_WARN] = "warn", [NOTIFY_ERROR] = "error"};
	const struct doc_node *notify = reader_value(r, s->node, "notify");
	if (!notify)
		return;
	if (notify->kind == DOC_STR)
		s->notify = reader_template(r, s->node, "notify", s);
	else
		s->notify = reader_template(r, notify, "message", s);
	const char *level = reader_text(r, notify, "level");
	for (unsigned i = 0; level && i < ARRAY_LEN(levels); i++)
		if (strcmp(levels[i], level) == 0)
			s->notify_level = i;
}

static void read_output_schema(struct reader *r, struct state *s)
{
	const struct doc_node *node = reader_get(r, s->node, "output_schema", DOC_STR);
	if (!node)
		return;
	const struct doc_pair *pair = doc_pair(r->m->schemas_map, node->text);
	if (!pair)
		reader_unknown_schema(r, node, s);
	else
		s->output_schema = reader_record(r, pair);
}

static void read_work(struct reader *r, struct state *s)
{
	s->timeout_secs = reader_int(r, s->node, "timeout_secs").value;
	read_output_schema(r, s);
	read_capture(r, s);
	read_retry(r, s);
}

/* The first clause with `else`; the count of them when none has. */
static uint32_t first_else(const struct doc_node *when)
{
	uint32_t i = 0;
	while (i < when->count && !doc_pair(&when->items[i], "else"))
		i++;
	return i;
}

/* Clause `i` of `count`: exactly the last one is `else`. One that comes too early is not missing
 * too, and a clause with neither or both has been reported. */
static void check_else(
	struct reader *r, const struct state *s, const struct doc_node *when, uint32_t i)
{
	const struct doc_node *clause = &when->items[i];
	bool last = i + 1 == when->count, is_else = doc_pair(clause, "else") != NULL;
	if (clause->kind != DOC_MAP || last == is_else)
		return;
	if (is_else == (doc_pair(clause, "if") != NULL) || (last && first_else(when) < when->count))
		return;
	struct site site = reader_site(r, clause, s);
	if (last) {
		struct finding *f = site_report(
			&site, RULE_MISSING_ELSE, "the last clause of a branch must be `else`");
		site_help(&site, f, "add `- {else: true, goto: STATE}` behind it");
		r->loose[s->index] = true;
		return;
	}
	site.node = &doc_pair(clause, "else")->key;
	struct finding *f = site_report(
		&site, RULE_MISPLACED_ELSE, "`else` always fires, so no clause behind it ever can");
	site_help(&site, f, "move it to the end, and keep only one");
}

static void read_branch(struct reader *r, struct state *s)
{
	const struct doc_node *when = reader_get(r, s->node, "when", DOC_LIST);
	if (!when || !when->count) {
		r->loose[s->index] = true;
		return;
	}
	struct clause *clauses = arena_array(&r->m->arena, when->count, sizeof(*clauses));
	for (uint32_t i = 0; i < when->count; i++) {
		const struct doc_node *condition = reader_get(r, &when->items[i], "if", DOC_STR);
		struct site site = reader_site(r, condition, s);
		check_else(r, s, when, i);
		clauses[i].text = condition ? condition->text : "else";
		clauses[i].node = condition;
		if (condition)
			clauses[i].condition = predicate_compile(&r->scope, &site);
		clauses[i].target = target_of(r, doc_get(&when->items[i], "goto"), s);
	}
	s->branch.clauses = clauses;
	s->branch.clause_count = when->count;
}

static void read_terminal(struct reader *r, struct state *s)
{
	const char *status = reader_text(r, s->node, "status");
	s->terminal.ok = status && strcmp(status, "ok") == 0;
	s->terminal.reason = reader_template(r, s->node, "reason", s);
}

static void read_state(struct reader *r, struct state *s)
{
	s->description = reader_text(r, s->node, "description");
	read_notify(r, s);
	switch (s->kind) {
	case KIND_AGENT:
		read_work(r, s);
		read_agent(r, s);
		break;
	case KIND_TOOL:
		read_work(r, s);
		read_tool(r, s);
		break;
	case KIND_WAIT: read_wait(r, s); break;
	case KIND_BRANCH: read_branch(r, s); return;
	case KIND_TERMINAL: read_terminal(r, s); return;
	case KIND_COUNT: r->loose[s->index] = true; return;
	}
	read_edges(r, s);
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

/* The first state in that map. */
static const struct doc_node *state_in(const struct doc_node *map)
{
	for (uint32_t i = 0; map && map->kind == DOC_MAP && i < map->count; i++)
		if (read_kind(&map->pairs[i].value) != KIND_COUNT)
			return &map->pairs[i].key;
	return NULL;
}

bool read_states_elsewhere(const struct doc *d, struct findings *f)
{
	static const char *const sections[] = {"budget", "config", "schemas", "vars"};
	if (doc_get(d->root, "states") || d->root->partial)
		return false;
	const struct doc_node *state = state_in(d->root);
	for (size_t i = 0; !state && i < ARRAY_LEN(sections); i++)
		state = state_in(doc_get(d->root, sections[i]));
	if (!state)
		return false;
	struct finding *it = finding_add(f, RULE_MISSING_KEY, d, state,
		"the document needs the key `states`; `%.64s` is a state", state->text);
	finding_help(f, it, "put it and the other states under `states:`");
	return true;
}

void read_states(struct reader *r)
{
	struct machine *m = r->m;
	m->states_map = reader_get(r, r->doc->root, "states", DOC_MAP);
	m->state_count = m->states_map ? m->states_map->count : 0;
	m->states_broken = !m->state_count || m->states_map->partial;
	r->states = arena_array(&m->arena, m->state_count, sizeof(*r->states));
	r->loose = arena_array(&m->arena, m->state_count + 1, sizeof(*r->loose));
	m->states = r->states;
	for (size_t i = 0; i < m->state_count; i++) {
		const struct doc_pair *pair = &m->states_map->pairs[i];
		r->states[i] = (struct state){.name = pair->key.text,
			.kind = read_kind(&pair->value),
			.index = i,
			.node = &pair->value,
			.key = &pair->key};
	}
	for (size_t i = 0; i < m->state_count; i++)
		read_state(r, &r->states[i]);
	m->initial = target_of(r, doc_get(r->doc->root, "initial"), NULL);
}
