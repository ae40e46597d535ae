#include "machine/trust.h"

#include "machine/visit.h"

/* Passes run forwards and backwards in turn: what is handed on along the states takes two, however
 * far, and nobody writes what takes more than these. */
enum { PASSES_MAX = 64 };

bool trust_networked(const struct state *s)
{
	return s->kind == KIND_TOOL &&
	       (s->tool.network == NETWORK_ALLOW || s->tool.network == NETWORK_LIST);
}

const struct origin *trust_origin(const struct trust *t, const struct variable *v)
{
	return &t->from[v - t->m->variables];
}

static void find_taken(void *ctx, const struct ref *ref, const char *source)
{
	struct trust *t = ctx;
	(void)source;
	if (!t->taken && ref->root && trust_origin(t, ref->root)->writer)
		t->taken = ref->root;
}

const struct variable *trust_input(struct trust *t, const struct state *s)
{
	t->taken = NULL;
	for (size_t i = 0; s->kind == KIND_TOOL && i < s->tool.command_count; i++)
		template_references(s->tool.command[i], find_taken, t);
	if (s->kind == KIND_TOOL)
		template_references(s->tool.stdin_text, find_taken, t);
	return t->taken;
}

void trust_reach(struct trust *t, const bool *sources, bool past_people, const struct state **by)
{
	size_t count = 0;
	for (size_t i = 0; i < t->m->state_count; i++) {
		by[i] = NULL;
		if (sources[i])
			t->queue[count++] = &t->m->states[i];
	}
	for (size_t at = 0; at < count; at++) {
		const struct state *s = t->queue[at];
		for (size_t e = 0; e < state_edge_count(s); e++) {
			const struct state *next = state_edge(s, e);
			if (!next || by[next->index] ||
				(!past_people && next->kind == KIND_WAIT && !next->wait.timed))
				continue;
			by[next->index] = sources[s->index] ? s : by[s->index];
			if (!sources[next->index])
				t->queue[count++] = next;
		}
	}
}

const struct state *trust_left(const struct trust *t, const struct state *s)
{
	bool sees = s->kind == KIND_TOOL && s->tool.workspace != WORKSPACE_NONE;
	return sees ? t->left[s->index] : NULL;
}

/* Who writes into the workspace what a model wrote, or what it was given from there. */
static void spread_files(struct trust *t)
{
	bool more = false;
	for (size_t i = 0; i < t->m->state_count; i++) {
		const struct state *s = &t->m->states[i];
		bool writes = s->kind == KIND_AGENT
				      ? s->agent.mode == MODE_RUN
				      : s->kind == KIND_TOOL &&
						s->tool.workspace == WORKSPACE_WRITE &&
						trust_input(t, s);
		more |= writes && !t->leaves[i];
		t->leaves[i] |= writes;
	}
	if (more)
		trust_reach(t, t->leaves, true, t->left);
	t->changed |= more;
}

static void distrust(struct trust *t, const struct variable *v, const struct state *writer,
	const struct variable *because)
{
	struct origin *o = &t->from[v - t->m->variables];
	if (o->writer)
		return;
	*o = (struct origin){writer, because, because ? NULL : trust_left(t, writer)};
	t->changed = true;
}

/* What an assignment writes is as untrusted as the state's result, or as what it copies. */
static void spread_assignment(struct trust *t, const struct state *s, const struct assignment *a,
	bool source, const struct variable *input)
{
	t->taken = NULL;
	template_references(a->value, find_taken, t);
	if (source || input)
		distrust(t, a->target, s, input);
	else if (t->taken)
		distrust(t, a->target, s, t->taken);
}

static void spread(struct trust *t, const struct state *s)
{
	bool source = s->kind == KIND_AGENT || trust_networked(s);
	const struct variable *input = source ? NULL : trust_input(t, s);
	source |= !input && trust_left(t, s);
	if (s->capture.whole && (source || input))
		distrust(t, s->capture.whole, s, input);
	for (size_t i = 0; i < s->capture.set_count; i++)
		spread_assignment(t, s, &s->capture.set[i], source, input);
}

/* What was not followed to its end may be anywhere by now. */
static void distrust_all(struct trust *t)
{
	for (size_t i = 0; i < t->m->state_count; i++) {
		const struct state *s = &t->m->states[i];
		if (s->capture.whole)
			distrust(t, s->capture.whole, s, NULL);
		for (size_t k = 0; k < s->capture.set_count; k++)
			distrust(t, s->capture.set[k].target, s, NULL);
	}
	spread_files(t);
}

static bool has_source(const struct machine *m)
{
	for (size_t i = 0; i < m->state_count; i++)
		if (m->states[i].kind == KIND_AGENT || trust_networked(&m->states[i]))
			return true;
	return false;
}

void trust_init(struct trust *t, const struct machine *m)
{
	*t = (struct trust){.m = m, .changed = has_source(m)};
	arena_init(&t->arena);
	t->from = arena_array(&t->arena, m->variable_count, sizeof(*t->from));
	t->leaves = arena_array(&t->arena, m->state_count, sizeof(*t->leaves));
	t->left = arena_array(&t->arena, m->state_count, sizeof(struct state *));
	t->queue = arena_array(&t->arena, m->state_count, sizeof(struct state *));
	for (int pass = 0; t->changed && pass < PASSES_MAX; pass++) {
		t->changed = false;
		spread_files(t);
		for (size_t i = 0; i < m->state_count; i++)
			spread(t, &m->states[pass % 2 ? m->state_count - 1 - i : i]);
	}
	if (t->changed)
		distrust_all(t);
}

void trust_done(struct trust *t)
{
	arena_done(&t->arena);
}
