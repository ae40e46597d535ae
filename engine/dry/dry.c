#include "dry/dry.h"

#include "base/json.h"
#include "base/sha256.h"
#include "instance/reduce.h"
#include "machine/blackboard.h"
#include "machine/predicate.h"
#include "machine/visit.h"
#include <string.h>

enum { VARIANTS = 14, HINTS_MAX = 64, PATH_MAX_SHOWN = 20 };

/* A pair of state and blackboard that a path reaches. Thousands of them differ in few values, so
 * that a blackboard is a number for each variable: that of its value among the distinct ones. */
struct node {
	const struct state *state;
	uint32_t *values;
	size_t parent, depth;
};

struct dry {
	const struct machine *m;
	json_t *board;                 /* of what is being tried */
	json_t *distinct, *numbers;    /* values by their number, and numbers by a value's text */
	json_t *hints, *seen, *failed; /* seen: digests; failed: what was told */
	struct node *nodes;
	size_t count;
	size_t *first_edge; /* by state, into taken */
	bool *taken;
	dry_listener *tell;
	void *ctx;
	struct dry_result *result;
};

static void tell(const struct dry *d, json_t *event)
{
	d->tell(d->ctx, event);
	json_decref(event);
}

static json_t *path_to(const struct dry *d, size_t at)
{
	json_t *path = json_array();
	for (size_t shown = 0; shown < PATH_MAX_SHOWN; shown++, at = d->nodes[at].parent) {
		json_array_insert_new(path, 0, json_string(d->nodes[at].state->name));
		if (!at)
			break;
	}
	return path;
}

/* Each reason of a state once, with the first path that shows it. */
static void fail(struct dry *d, const struct state *s, const char *why, json_t *path)
{
	AUTO_FREE char *key = NULL;
	json_auto_t *owned = path;
	if (asprintf(&key, "%s: %s", s->name, why) < 0 || json_object_get(d->failed, key))
		return;
	json_object_set_new(d->failed, key, json_true());
	d->result->failures++;
	tell(d, json_pack("{s:s, s:s, s:s, s:O}", "t", "failure", "state", s->name, "why", why,
			"path", owned));
}

/* --- blackboards ------------------------------------------------------------------------------ */

static uint32_t number_of(struct dry *d, const char *variable)
{
	json_t *value = json_object_get(d->board, variable);
	AUTO_FREE char *text = json_text(value);
	if (!text)
		abort();
	const json_t *known = json_object_get(d->numbers, text);
	if (known)
		return (uint32_t)json_integer_value(known);
	size_t number = json_array_size(d->distinct);
	json_array_append(d->distinct, value);
	json_object_set_new(d->numbers, text, json_integer((json_int_t)number));
	return (uint32_t)number;
}

static void show(struct dry *d, const struct variable *v, const uint32_t *values)
{
	json_object_set(
		d->board, v->name, json_array_get(d->distinct, values[v - d->m->variables]));
}

static const struct variable *captured(const struct state *s, size_t i)
{
	if (s->capture.whole)
		return i ? NULL : s->capture.whole;
	return i < s->capture.set_count ? s->capture.set[i].target : NULL;
}

static uint32_t *copy_values(const struct dry *d, const uint32_t *values)
{
	uint32_t *copy = calloc(d->m->variable_count + 1, sizeof(*copy));
	if (!copy)
		abort();
	if (values)
		memcpy(copy, values, d->m->variable_count * sizeof(*copy));
	return copy;
}

/* The blackboard that a step of `s` made of `values`, and leaves as it was before. */
static uint32_t *take_board(struct dry *d, const struct state *s, const uint32_t *values)
{
	uint32_t *after = copy_values(d, values);
	const struct variable *v;
	for (size_t i = 0; (v = captured(s, i)); i++) {
		after[v - d->m->variables] = number_of(d, v->name);
		show(d, v, values);
	}
	return after;
}

/* --- each state by itself --------------------------------------------------------------------- */

static void try_label(struct dry *d, const struct state *s, enum outcome label)
{
	struct err e = ERR_NONE;
	struct reduced v;
	json_auto_t *fact = dry_fact(s, label, 0, NULL);
	if (reduce(s, fact, d->board, &v, &e))
		fail(d, s, e.text, json_array());
	else if (v.outcome != label)
		fail(d, s, v.reason, json_array());
	else
		tell(d, json_pack("{s:s, s:s, s:s, s:s}", "t", "state", "state", s->name, "label",
				v.label, "goto", v.target->name));
	free(take_board(d, s, d->nodes[0].values));
}

static json_t *try_clause(const struct dry *d, const struct clause *c, bool *wins)
{
	struct err e = ERR_NONE;
	*wins = !c->condition;
	if (c->condition && predicate_eval(c->condition, d->board, wins, &e)) {
		*wins = false;
		return json_pack("{s:s, s:n, s:s}", "if", c->text, "value", "why", e.text);
	}
	return json_pack("{s:s, s:b}", "if", c->text, "value", *wins);
}

static void try_branch(struct dry *d, const struct state *s)
{
	json_t *clauses = json_array();
	const struct state *to = NULL;
	bool decided = false, wins;
	for (size_t i = 0; i < s->branch.clause_count && !decided; i++) {
		json_t *clause = try_clause(d, &s->branch.clauses[i], &wins);
		decided = wins || json_object_get(clause, "why");
		if (wins)
			to = s->branch.clauses[i].target;
		json_array_append_new(clauses, clause);
	}
	tell(d, json_pack("{s:s, s:s, s:o, s:s?}", "t", "branch", "state", s->name, "clauses",
			clauses, "goto", to ? to->name : NULL));
}

static void try_states(struct dry *d)
{
	for (size_t i = 0; i < d->m->state_count; i++) {
		const struct state *s = &d->m->states[i];
		if (s->kind == KIND_BRANCH)
			try_branch(d, s);
		for (unsigned o = 0; s->kind != KIND_BRANCH && o < OUTCOME_COUNT; o++)
			if (s->on[o])
				try_label(d, s, o);
	}
}

/* --- every path ------------------------------------------------------------------------------- */

static bool is_new(struct dry *d, const struct state *s, const uint32_t *values)
{
	struct sha256 hash;
	char key[SHA256_HEX + 1];
	sha256_init(&hash);
	sha256_add(&hash, s->name, strlen(s->name) + 1);
	sha256_add(&hash, values, d->m->variable_count * sizeof(*values));
	sha256_end_hex(&hash, key);
	return !json_object_get(d->seen, key) && !json_object_set_new(d->seen, key, json_true());
}

/* Takes over `values`. */
static void reach(struct dry *d, const struct state *s, uint32_t *values, size_t parent)
{
	size_t depth = d->count ? d->nodes[parent].depth + 1 : 0;
	if (is_new(d, s, values)) {
		if (d->count < DRY_VISITS_MAX && depth <= DRY_DEPTH_MAX) {
			d->nodes[d->count++] = (struct node){s, values, parent, depth};
			return;
		}
		d->result->bounded = true;
	}
	free(values);
}

static void take_edge(struct dry *d, const struct state *s, size_t edge)
{
	bool *taken = &d->taken[d->first_edge[s->index] + edge];
	d->result->taken += !*taken;
	*taken = true;
}

struct entry {
	const json_t *blackboard;
	struct err e;
};

static void check_ref(void *ctx, const struct ref *ref, const char *source)
{
	struct entry *entry = ctx;
	(void)source;
	ref_find(ref, entry->blackboard, NULL, &entry->e);
}

static void explore_branch(struct dry *d, size_t at)
{
	const struct node n = d->nodes[at];
	struct err e = ERR_NONE;
	json_auto_t *fact = reduce_branch(n.state, d->board, &e);
	if (!fact) {
		fail(d, n.state, e.text, path_to(d, at));
		return;
	}
	size_t clause = (size_t)json_get_int(fact, "clause");
	take_edge(d, n.state, clause);
	reach(d, n.state->branch.clauses[clause].target, copy_values(d, n.values), at);
}

static void explore_label(struct dry *d, size_t at, enum outcome label)
{
	const struct node n = d->nodes[at];
	bool varies = label == OUTCOME_OK && n.state->capture.reads_result;
	for (unsigned variant = 0; variant < (varies ? VARIANTS : 1); variant++) {
		struct reduced v;
		struct err e = ERR_NONE;
		json_auto_t *fact = dry_fact(n.state, label, variant, d->hints);
		if (reduce(n.state, fact, d->board, &v, &e)) {
			fail(d, n.state, e.text, path_to(d, at));
			continue;
		}
		take_edge(d, n.state, v.outcome);
		reach(d, v.target, take_board(d, n.state, n.values), at);
	}
}

static void explore(struct dry *d, size_t at)
{
	const struct state *s = d->nodes[at].state;
	struct entry entry = {.blackboard = d->board};
	for (size_t i = 0; i < d->m->variable_count; i++)
		show(d, &d->m->variables[i], d->nodes[at].values);
	state_entry_refs(s, check_ref, &entry);
	if (entry.e.text[0]) {
		fail(d, s, entry.e.text, path_to(d, at));
		return;
	}
	if (s->kind == KIND_BRANCH) {
		explore_branch(d, at);
		return;
	}
	for (unsigned o = 0; o < OUTCOME_COUNT; o++)
		if (s->on[o])
			explore_label(d, at, o);
}

static const char *edge_label(const struct state *s, size_t edge)
{
	return s->kind == KIND_BRANCH ? s->branch.clauses[edge].text
				      : outcome_name((enum outcome)edge);
}

static void tell_untaken(const struct dry *d)
{
	for (size_t i = 0; i < d->m->state_count; i++) {
		const struct state *s = &d->m->states[i];
		for (size_t edge = 0; edge < state_edge_count(s); edge++)
			if (state_edge(s, edge) && !d->taken[d->first_edge[i] + edge])
				tell(d, json_pack("{s:s, s:s, s:s, s:s}", "t", "untaken", "state",
						s->name, "label", edge_label(s, edge), "goto",
						state_edge(s, edge)->name));
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

static void add_hint(void *ctx, json_t *value)
{
	json_t *hints = ctx;
	if (json_array_size(hints) < HINTS_MAX)
		json_array_append(hints, value);
	/* Just beside a number is where an order turns. */
	if (json_is_integer(value) && json_array_size(hints) < HINTS_MAX &&
		json_integer_value(value) < INT64_MAX)
		json_array_append_new(hints, json_integer(json_integer_value(value) + 1));
	json_decref(value);
}

/* What conditions compare with: their literals, and parameters. */
static json_t *hints_of(const struct machine *m)
{
	json_t *hints = json_array();
	for (size_t i = 0; i < m->state_count; i++)
		state_condition_literals(&m->states[i], add_hint, hints);
	for (size_t i = 0; i < m->variable_count; i++)
		if (m->variables[i].owner == OWNER_OPERATOR)
			add_hint(hints, json_incref(m->variables[i].initial));
	return hints;
}

static void dry_init(struct dry *d)
{
	size_t edges = 0;
	d->hints = hints_of(d->m);
	d->distinct = json_array();
	d->numbers = json_object();
	d->seen = json_object();
	d->failed = json_object();
	d->nodes = calloc(DRY_VISITS_MAX, sizeof(*d->nodes));
	d->first_edge = calloc(d->m->state_count, sizeof(*d->first_edge));
	for (size_t i = 0; d->first_edge && i < d->m->state_count; i++) {
		const struct state *s = &d->m->states[i];
		d->first_edge[i] = edges;
		edges += state_edge_count(s);
		for (size_t edge = 0; edge < state_edge_count(s); edge++)
			d->result->edges += state_edge(s, edge) != NULL;
	}
	d->taken = calloc(edges + 1, sizeof(*d->taken));
	if (!d->nodes || !d->first_edge || !d->taken)
		abort();
}

static void dry_done(struct dry *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->nodes[i].values);
	json_decref(d->board);
	json_decref(d->distinct);
	json_decref(d->numbers);
	json_decref(d->hints);
	json_decref(d->seen);
	json_decref(d->failed);
	free(d->nodes);
	free(d->first_edge);
	free(d->taken);
}

void dry_run(const struct machine *m, const json_t *blackboard, dry_listener *listener, void *ctx,
	struct dry_result *out)
{
	*out = (struct dry_result){0};
	struct dry d = {.m = m,
		.board =
			blackboard ? json_copy((json_t *)(uintptr_t)blackboard) : blackboard_new(m),
		.tell = listener,
		.ctx = ctx,
		.result = out};
	dry_init(&d);
	uint32_t *start = copy_values(&d, NULL);
	for (size_t i = 0; i < m->variable_count; i++)
		start[i] = number_of(&d, m->variables[i].name);
	reach(&d, m->initial, start, 0);
	try_states(&d);
	for (size_t at = 0; at < d.count; at++)
		explore(&d, at);
	out->visited = d.count;
	tell_untaken(&d);
	dry_done(&d);
}

json_t *dry_blackboard(const struct machine *m, const json_t *fixture, struct err *e)
{
	json_auto_t *blackboard = blackboard_new(m);
	const char *name;
	json_t *value;
	if (!json_is_object(fixture)) {
		err_set(e, "a fixture is an object: {\"VARIABLE\": value, ...}");
		return NULL;
	}
	json_object_foreach ((json_t *)(uintptr_t)fixture, name, value) {
		const struct variable *v = machine_variable(m, name);
		AUTO_BUF problems = BUF_INIT(64 * 1024);
		if (!v) {
			err_set(e, "machine \"%s\" has no variable \"%s\"", m->name, name);
			return NULL;
		}
		if (value_check(v->type, value, VALUE_PARTIAL, name, &problems)) {
			err_set(e, "%.*s", (int)strcspn(problems.data, "\n"), problems.data);
			return NULL;
		}
		json_object_set(blackboard, name, value);
	}
	return TAKE_PTR(blackboard);
}
