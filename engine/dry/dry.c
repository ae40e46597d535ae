#include "dry/dry.h"

#include "base/json.h"
#include "base/sha256.h"
#include "instance/reduce.h"
#include "machine/blackboard.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/predicate.h"
#include "machine/visit.h"
#include <string.h>

enum { VISITS_COUNTED = 4 };
enum { VARIANTS = 14, HINTS_MAX = 64, PATH_MAX_SHOWN = 20 };

/* A pair of state and blackboard that a path reaches. Thousands of pairs differ in few values, so a
 * blackboard holds one number for each variable: the index of its value among the distinct ones. */
struct visit {
	const struct state *state;
	uint32_t *values;
	size_t parent, depth;
};

struct dry {
	const struct machine *m;
	json_t *board;                 /* the blackboard that is being tried */
	json_t *distinct, *numbers;    /* values by their number, and numbers by a value's text */
	json_t *hints, *seen, *failed; /* seen: digests; failed: reasons already reported */
	struct visit *nodes;
	size_t count;
	size_t *first_edge; /* by state, into taken */
	size_t slots;       /* numbers of a node: a value by variable, then the visits by state */
	bool *taken;
	dry_listener *tell;
	void *ctx;
	struct dry_result *result;
};

static void tell_event(const struct dry *dry, json_t *event)
{
	dry->tell(dry->ctx, event);
	json_decref(event);
}

static json_t *path_to(const struct dry *dry, size_t at)
{
	json_t *path = json_array();
	for (size_t shown = 0; shown < PATH_MAX_SHOWN; shown++, at = dry->nodes[at].parent) {
		json_array_insert_new(path, 0, json_string(dry->nodes[at].state->name));
		if (!at)
			break;
	}
	return path;
}

/* Reports each reason of a state once, with the first path that shows it. */
static void fail(struct dry *dry, const struct state *state, const char *why, json_t *path)
{
	AUTO_FREE char *key = NULL;
	json_auto_t *owned = path;
	if (asprintf(&key, "%s: %s", state->name, why) < 0 || json_object_get(dry->failed, key))
		return;
	json_object_set_new(dry->failed, key, json_true());
	dry->result->failures++;
	tell_event(dry, json_pack("{s:s, s:s, s:s, s:O}", "t", "failure", "state", state->name,
				"why", why, "path", owned));
}

/* --- blackboards ------------------------------------------------------------------------------ */

static uint32_t number_of(struct dry *dry, const char *variable)
{
	json_t *value = json_object_get(dry->board, variable);
	AUTO_FREE char *text = json_text(value);
	if (!text)
		abort();
	const json_t *known = json_object_get(dry->numbers, text);
	if (known)
		return (uint32_t)json_integer_value(known);
	size_t number = json_array_size(dry->distinct);
	json_array_append(dry->distinct, value);
	json_object_set_new(dry->numbers, text, json_integer((json_int_t)number));
	return (uint32_t)number;
}

static void show(struct dry *dry, const struct variable *variable, const uint32_t *values)
{
	json_object_set(dry->board, variable->name,
		json_array_get(dry->distinct, values[variable - dry->m->variables]));
}

/* Returns the variables that a step of the state may write, by number; NULL: no more. */
static const struct variable *captured(const struct state *state, size_t i)
{
	const struct capture *ok = &state->capture, *failed = &state->failure;
	size_t whole = ok->whole != NULL;
	if (i < whole)
		return ok->whole;
	i -= whole;
	if (i < ok->set_count)
		return ok->set[i].target;
	i -= ok->set_count;
	return i < failed->set_count ? failed->set[i].target : NULL;
}

static uint32_t *copy_values(const struct dry *dry, const uint32_t *values)
{
	uint32_t *copy = calloc(dry->slots + 1, sizeof(*copy));
	if (!copy)
		abort();
	if (values)
		memcpy(copy, values, dry->slots * sizeof(*copy));
	return copy;
}

/* Returns the blackboard after a step of `state` from `values`, and restores the one before. */
static uint32_t *take_board(struct dry *dry, const struct state *state, const uint32_t *values)
{
	uint32_t *after = copy_values(dry, values);
	const struct variable *v;
	for (size_t i = 0; (v = captured(state, i)); i++) {
		after[v - dry->m->variables] = number_of(dry, v->name);
		show(dry, v, values);
	}
	return after;
}

/* --- each state by itself --------------------------------------------------------------------- */

static void try_label(struct dry *dry, const struct state *state, enum outcome label)
{
	struct err e = ERR_NONE;
	struct reduced v;
	AUTO_FACT fact;
	dry_fact(state, label, 0, NULL, &fact);
	if (fact.kind == FACT_VISITS)
		fact.visits = fixed_max_visits(state, dry->board);
	int failed = reduce(state, &fact, dry->m->journal_format, dry->board, &v, &e);
	if (!failed)
		reduce_failure(state, &fact, &v, dry->board);
	if (failed)
		fail(dry, state, e.text, json_array());
	else if (v.outcome != label)
		fail(dry, state, v.reason, json_array());
	else
		tell_event(dry, json_pack("{s:s, s:s, s:s, s:s}", "t", "state", "state",
					state->name, "label", v.label, "goto", v.target->name));
	free(take_board(dry, state, dry->nodes[0].values));
}

static json_t *try_clause(const struct dry *dry, const struct clause *clause, bool *wins)
{
	struct err e = ERR_NONE;
	*wins = !clause->condition;
	if (clause->condition && predicate_eval(clause->condition, dry->board, wins, &e)) {
		*wins = false;
		return json_pack("{s:s, s:n, s:s}", "if", clause->text, "value", "why", e.text);
	}
	return json_pack("{s:s, s:b}", "if", clause->text, "value", *wins);
}

static void try_branch(struct dry *dry, const struct state *state)
{
	json_t *clauses = json_array();
	const struct state *to = NULL;
	bool decided = false, wins;
	for (size_t i = 0; i < state->clause_count && !decided; i++) {
		json_t *clause = try_clause(dry, &state->clauses[i], &wins);
		decided = wins || json_object_get(clause, "why");
		if (wins)
			to = state->clauses[i].target;
		json_array_append_new(clauses, clause);
	}
	tell_event(dry, json_pack("{s:s, s:s, s:o, s:s?}", "t", "branch", "state", state->name,
				"clauses", clauses, "goto", to ? to->name : NULL));
}

static void try_states(struct dry *dry)
{
	for (size_t i = 0; i < dry->m->state_count; i++) {
		const struct state *s = &dry->m->states[i];
		if (s->clauses)
			try_branch(dry, s);
		for (unsigned o = 0; o < OUTCOME_COUNT; o++)
			if (s->on[o])
				try_label(dry, s, o);
	}
}

/* --- every path ------------------------------------------------------------------------------- */

static bool is_new(struct dry *dry, const struct state *state, const uint32_t *values)
{
	struct sha256 hash;
	char key[SHA256_HEX + 1];
	sha256_init(&hash);
	sha256_add(&hash, state->name, strlen(state->name) + 1);
	sha256_add(&hash, values, dry->slots * sizeof(*values));
	sha256_end_hex(&hash, key);
	return !json_object_get(dry->seen, key) &&
	       !json_object_set_new(dry->seen, key, json_true());
}

/* Returns the number of times that the node's state was entered, if it has max_visits; counted up
 * to VISITS_COUNTED, since a run with a higher limit behaves alike before. */
static uint32_t *visits_of(const struct dry *dry, const struct state *state, uint32_t *values)
{
	return state->max_visits ? &values[dry->m->variable_count + state->index] : NULL;
}

static bool may_be_exhausted(int64_t max_visits, uint32_t visits)
{
	return max_visits && visits > (max_visits < VISITS_COUNTED - 1 ? (uint32_t)max_visits
								       : VISITS_COUNTED - 1);
}

static bool may_work(int64_t max_visits, uint32_t visits)
{
	return max_visits >= VISITS_COUNTED || !may_be_exhausted(max_visits, visits);
}

/* Adds a node unless it is known. Takes over `values`. */
static void reach(struct dry *dry, const struct state *state, uint32_t *values, size_t parent)
{
	size_t depth = dry->count ? dry->nodes[parent].depth + 1 : 0;
	uint32_t *visits = visits_of(dry, state, values);
	if (visits && *visits < VISITS_COUNTED)
		++*visits;
	if (is_new(dry, state, values)) {
		if (dry->count < DRY_VISITS_MAX && depth <= DRY_DEPTH_MAX) {
			dry->nodes[dry->count++] = (struct visit){state, values, parent, depth};
			return;
		}
		dry->result->bounded = true;
	}
	free(values);
}

static void take_edge(struct dry *dry, const struct state *state, size_t edge)
{
	bool *taken = &dry->taken[dry->first_edge[state->index] + edge];
	dry->result->taken += !*taken;
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

/* Computes the result of an end: one that does not conform would fail the run. */
static void explore_end(struct dry *dry, size_t at)
{
	struct err e = ERR_NONE;
	json_auto_t *result = NULL;
	if (reduce_returns(dry->nodes[at].state, dry->board, &result, &e))
		fail(dry, dry->nodes[at].state, e.text, path_to(dry, at));
}

static void explore_branch(struct dry *dry, size_t at)
{
	const struct visit n = dry->nodes[at];
	struct err e = ERR_NONE;
	struct fact fact;
	if (reduce_branch(n.state, dry->board, &fact, &e)) {
		fail(dry, n.state, e.text, path_to(dry, at));
		return;
	}
	size_t clause = (size_t)fact.clause;
	take_edge(dry, n.state, clause);
	reach(dry, n.state->clauses[clause].target, copy_values(dry, n.values), at);
}

static void explore_label(struct dry *dry, size_t at, enum outcome label)
{
	const struct visit n = dry->nodes[at];
	const struct tool_state *tool = state_tool(n.state);
	const struct capture *capture = state_edge_capture(n.state, label);
	bool varies = (capture == &n.state->capture && capture->reads_result) ||
		      (capture == &n.state->failure && capture->set_count) ||
		      (label == OUTCOME_OK && tool && tool->ok_exit_count > 1);
	for (unsigned variant = 0; variant < (varies ? VARIANTS : 1); variant++) {
		struct reduced v;
		struct err e = ERR_NONE;
		AUTO_FACT fact;
		dry_fact(n.state, label, variant, dry->hints, &fact);
		if (reduce(n.state, &fact, dry->m->journal_format, dry->board, &v, &e)) {
			fail(dry, n.state, e.text, path_to(dry, at));
			continue;
		}
		reduce_failure(n.state, &fact, &v, dry->board);
		take_edge(dry, n.state, v.outcome);
		reach(dry, v.target, take_board(dry, n.state, n.values), at);
	}
}

static void explore(struct dry *dry, size_t at)
{
	const struct state *s = dry->nodes[at].state;
	struct entry entry = {.blackboard = dry->board};
	for (size_t i = 0; i < dry->m->variable_count; i++)
		show(dry, &dry->m->variables[i], dry->nodes[at].values);
	const uint32_t *visits = visits_of(dry, s, dry->nodes[at].values);
	int64_t most = fixed_max_visits(s, dry->board);
	if (visits && may_be_exhausted(most, *visits)) {
		take_edge(dry, s, s->clauses ? s->clause_count : OUTCOME_EXHAUSTED);
		reach(dry, s->on[OUTCOME_EXHAUSTED], copy_values(dry, dry->nodes[at].values), at);
	}
	if (visits && !may_work(most, *visits))
		return;
	state_entry_refs(s, check_ref, &entry);
	if (entry.e.text[0]) {
		fail(dry, s, entry.e.text, path_to(dry, at));
		return;
	}
	if (s->clauses) {
		explore_branch(dry, at);
		return;
	}
	explore_end(dry, at);
	for (unsigned o = 0; o < OUTCOME_COUNT; o++)
		if (s->on[o] && o != OUTCOME_EXHAUSTED)
			explore_label(dry, at, o);
}

static void tell_untaken(const struct dry *dry)
{
	for (size_t i = 0; i < dry->m->state_count; i++) {
		const struct state *s = &dry->m->states[i];
		for (size_t edge = 0; edge < state_edge_count(s); edge++)
			if (state_edge(s, edge) && !dry->taken[dry->first_edge[i] + edge])
				tell_event(dry,
					json_pack("{s:s, s:s, s:s, s:s}", "t", "untaken", "state",
						s->name, "label", state_edge_label(s, edge), "goto",
						state_edge(s, edge)->name));
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

static void add_hint(void *ctx, json_t *value)
{
	json_t *hints = ctx;
	if (json_array_size(hints) < HINTS_MAX)
		json_array_append(hints, value);
	/* An order comparison changes its result next to the number. */
	if (json_is_integer(value) && json_array_size(hints) < HINTS_MAX &&
		json_integer_value(value) < INT64_MAX)
		json_array_append_new(hints, json_integer(json_integer_value(value) + 1));
	json_decref(value);
}

/* Returns the values that conditions compare with: their literals, and parameters. */
static json_t *hints_of(const struct machine *machine)
{
	json_t *hints = json_array();
	for (size_t i = 0; i < machine->state_count; i++)
		state_condition_literals(&machine->states[i], add_hint, hints);
	for (size_t i = 0; i < machine->variable_count; i++)
		if (machine->variables[i].owner == OWNER_OPERATOR && machine->variables[i].initial)
			add_hint(hints, json_incref(machine->variables[i].initial));
	return hints;
}

/* Returns the blackboard of a start, with a value for each parameter that it has to give. */
static json_t *start_board(const struct machine *machine)
{
	json_t *board = blackboard_new(machine);
	for (size_t i = 0; i < machine->variable_count; i++) {
		const struct variable *v = &machine->variables[i];
		if (!v->initial)
			json_object_set_new(
				board, v->name, dry_value_within(v->type, &v->constraint, 1, NULL));
	}
	return board;
}

static void dry_init(struct dry *dry)
{
	size_t edges = 0;
	dry->hints = hints_of(dry->m);
	dry->distinct = json_array();
	dry->numbers = json_object();
	dry->seen = json_object();
	dry->failed = json_object();
	dry->nodes = calloc(DRY_VISITS_MAX, sizeof(*dry->nodes));
	dry->first_edge = calloc(dry->m->state_count, sizeof(*dry->first_edge));
	for (size_t i = 0; dry->first_edge && i < dry->m->state_count; i++) {
		const struct state *s = &dry->m->states[i];
		dry->first_edge[i] = edges;
		edges += state_edge_count(s);
		for (size_t edge = 0; edge < state_edge_count(s); edge++)
			dry->result->edges += state_edge(s, edge) != NULL;
	}
	dry->taken = calloc(edges + 1, sizeof(*dry->taken));
	if (!dry->nodes || !dry->first_edge || !dry->taken)
		abort();
}

static void dry_done(struct dry *dry)
{
	for (size_t i = 0; i < dry->count; i++)
		free(dry->nodes[i].values);
	json_decref(dry->board);
	json_decref(dry->distinct);
	json_decref(dry->numbers);
	json_decref(dry->hints);
	json_decref(dry->seen);
	json_decref(dry->failed);
	free(dry->nodes);
	free(dry->first_edge);
	free(dry->taken);
}

void dry_run(const struct machine *machine, const json_t *blackboard, dry_listener *listener,
	void *ctx, struct dry_result *out)
{
	*out = (struct dry_result){0};
	struct dry d = {.m = machine,
		.board = blackboard ? json_copy((json_t *)(uintptr_t)blackboard)
				    : start_board(machine),
		.tell = listener,
		.ctx = ctx,
		.result = out};
	d.slots = machine->variable_count + machine->state_count;
	dry_init(&d);
	uint32_t *start = copy_values(&d, NULL);
	for (size_t i = 0; i < machine->variable_count; i++)
		start[i] = number_of(&d, machine->variables[i].name);
	reach(&d, machine->initial, start, 0);
	try_states(&d);
	for (size_t at = 0; at < d.count; at++)
		explore(&d, at);
	out->visited = d.count;
	tell_untaken(&d);
	dry_done(&d);
}

json_t *dry_blackboard(const struct machine *machine, const json_t *fixture, struct err *e)
{
	json_auto_t *blackboard = start_board(machine);
	const char *name;
	json_t *value;
	if (!json_is_object(fixture)) {
		err_set(e, "a fixture is an object: {\"VARIABLE\": value, ...}");
		return NULL;
	}
	json_object_foreach ((json_t *)(uintptr_t)fixture, name, value) {
		const struct variable *v = machine_variable(machine, name);
		AUTO_BUF problems = BUF_INIT(64 * 1024);
		if (!v) {
			err_set(e, "machine \"%s\" has no variable \"%s\"", machine->name, name);
			return NULL;
		}
		struct demand demand = {v->type, &v->constraint, VALUE_PARTIAL};
		if (demand_check(&demand, value, name, &problems)) {
			err_set(e, "%.*s", (int)strcspn(problems.data, "\n"), problems.data);
			return NULL;
		}
		json_object_set(blackboard, name, value);
	}
	return TAKE_PTR(blackboard);
}
