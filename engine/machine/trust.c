#include "machine/trust.h"

#include "machine/kind.h"
#include "machine/visit.h"

/* Passes run forwards and backwards in turn. Data that is handed on along the states takes two,
 * however far it goes, and no machine that a person writes takes more than these. */
enum { PASSES_MAX = 64 };

const struct origin *trust_origin(const struct trust *trust, const struct variable *variable)
{
	return &trust->from[variable - trust->m->variables];
}

static void find_taken(void *ctx, const struct ref *ref, const char *source)
{
	struct trust *t = ctx;
	(void)source;
	if (!t->taken && ref->root && trust_origin(t, ref->root)->writer)
		t->taken = ref->root;
}

static void find_in_code(void *ctx, const struct template *text, bool is_code)
{
	if (is_code)
		template_references(text, find_taken, ctx);
}

const struct variable *trust_input(struct trust *trust, const struct state *state)
{
	trust->taken = NULL;
	kind_of(state)->texts(state, find_in_code, trust);
	return trust->taken;
}

/* Reports whether only a poke leads on from the state. */
static bool needs_person(const struct state *state)
{
	const struct wait_state *wait = state_wait(state);
	return wait && !wait->timed;
}

/* Returns the state behind those that a person decides in: a wait that has been visited too often
 * leads on by itself. NULL: none. */
static const struct state *past_person(const struct trust *trust, const struct state *state)
{
	for (size_t i = 0; state && needs_person(state); i++)
		state = i < trust->m->state_count ? state->on[OUTCOME_EXHAUSTED] : NULL;
	return state;
}

void trust_reach(
	struct trust *trust, const bool *sources, bool past_people, const struct state **by)
{
	size_t count = 0;
	for (size_t i = 0; i < trust->m->state_count; i++) {
		by[i] = NULL;
		if (sources[i])
			trust->queue[count++] = &trust->m->states[i];
	}
	for (size_t at = 0; at < count; at++) {
		const struct state *s = trust->queue[at];
		for (size_t e = 0; e < state_edge_count(s); e++) {
			const struct state *next = state_edge(s, e);
			if (!past_people)
				next = past_person(trust, next);
			if (!next || by[next->index])
				continue;
			by[next->index] = sources[s->index] ? s : by[s->index];
			if (!sources[next->index])
				trust->queue[count++] = next;
		}
	}
}

const struct state *trust_left(const struct trust *trust, const struct state *state)
{
	return kind_of(state)->takes_files(state) ? trust->left[state->index] : NULL;
}

/* Finds the states that write untrusted data into the workspace: from a model, or from data that
 * was given to them. */
static void spread_files(struct trust *trust)
{
	bool more = false;
	for (size_t i = 0; i < trust->m->state_count; i++) {
		const struct state *s = &trust->m->states[i];
		enum writing writing = state_writing(s);
		bool writes = writing == WRITES_CODE ||
			      (writing == WRITES_FILES && trust_input(trust, s));
		more |= writes && !trust->leaves[i];
		trust->leaves[i] |= writes;
	}
	if (more)
		trust_reach(trust, trust->leaves, true, trust->left);
	trust->changed |= more;
}

static void distrust(struct trust *trust, const struct variable *variable,
	const struct state *writer, const struct variable *because)
{
	struct origin *o = &trust->from[variable - trust->m->variables];
	if (o->writer)
		return;
	*o = (struct origin){.writer = writer,
		.because = because,
		.left = because ? NULL : trust_left(trust, writer)};
	trust->changed = true;
}

/* Marks the target of an assignment: it is as untrusted as the state's result, or as the variable
 * that it copies. */
static void spread_assignment(struct trust *trust, const struct state *state,
	const struct assignment *assignment, bool source, const struct variable *input)
{
	trust->taken = NULL;
	template_references(assignment->value, find_taken, trust);
	if (source || input)
		distrust(trust, assignment->target, state, input);
	else if (trust->taken)
		distrust(trust, assignment->target, state, trust->taken);
}

static void find_foreign(void *foreign, const struct ref *ref, const char *source)
{
	(void)source;
	if (ref->source == REF_FAILURE)
		*(bool *)foreign |= failure_is_foreign(ref->field_count ? ref->fields[0] : NULL);
}

/* Reports whether an assignment of a capture_failure takes words that agent6 did not write. */
static bool is_foreign(const struct assignment *assignment)
{
	bool foreign = false;
	template_references(assignment->value, find_foreign, &foreign);
	return foreign;
}

bool trust_fails_untrusted(const struct trust *trust, const struct state *state)
{
	bool found = state->failure.present &&
		     (kind_of(state)->brings_untrusted(state) || trust_left(trust, state));
	for (size_t i = 0; i < state->failure.set_count; i++)
		found |= is_foreign(&state->failure.set[i]);
	return found;
}

/* Marks the targets of a capture_failure. */
static void spread_failure(
	struct trust *trust, const struct state *state, bool source, const struct variable *input)
{
	for (size_t i = 0; i < state->failure.set_count; i++) {
		const struct assignment *a = &state->failure.set[i];
		struct origin *o = &trust->from[a->target - trust->m->variables];
		bool known = o->writer, foreign = !source && !input && is_foreign(a);
		spread_assignment(trust, state, a, source || foreign, input);
		o->failed |= foreign && !known;
	}
}

static void spread(struct trust *trust, const struct state *state)
{
	bool source = kind_of(state)->brings_untrusted(state);
	const struct variable *input = source ? NULL : trust_input(trust, state);
	source |= !input && trust_left(trust, state);
	if (state->capture.whole && (source || input))
		distrust(trust, state->capture.whole, state, input);
	for (size_t i = 0; i < state->capture.set_count; i++)
		spread_assignment(trust, state, &state->capture.set[i], source, input);
	spread_failure(trust, state, source, input);
}

/* Distrusts every variable: the passes ended before all data was followed. */
static void distrust_all(struct trust *trust)
{
	for (size_t i = 0; i < trust->m->state_count; i++) {
		const struct state *s = &trust->m->states[i];
		if (s->capture.whole)
			distrust(trust, s->capture.whole, s, NULL);
		for (size_t k = 0; k < s->capture.set_count; k++)
			distrust(trust, s->capture.set[k].target, s, NULL);
		for (size_t k = 0; k < s->failure.set_count; k++)
			distrust(trust, s->failure.set[k].target, s, NULL);
	}
	spread_files(trust);
}

static bool has_source(const struct machine *machine)
{
	for (size_t i = 0; i < machine->state_count; i++)
		if (machine->states[i].failure.present ||
			kind_of(&machine->states[i])->brings_untrusted(&machine->states[i]))
			return true;
	return false;
}

void trust_init(struct trust *trust, const struct machine *machine)
{
	*trust = (struct trust){.m = machine, .changed = has_source(machine)};
	arena_init(&trust->arena);
	trust->from = arena_array(&trust->arena, machine->variable_count, sizeof(*trust->from));
	trust->leaves = arena_array(&trust->arena, machine->state_count, sizeof(*trust->leaves));
	trust->left = arena_array(&trust->arena, machine->state_count, sizeof(struct state *));
	trust->queue = arena_array(&trust->arena, machine->state_count, sizeof(struct state *));
	for (int pass = 0; trust->changed && pass < PASSES_MAX; pass++) {
		trust->changed = false;
		spread_files(trust);
		for (size_t i = 0; i < machine->state_count; i++)
			spread(trust,
				&machine->states[pass % 2 ? machine->state_count - 1 - i : i]);
	}
	if (trust->changed)
		distrust_all(trust);
}

void trust_done(struct trust *trust)
{
	arena_done(&trust->arena);
}
