#include "machine/trust.h"

#include "machine/visit.h"

/* Passes run forwards and backwards in turn: a chain of any length takes two. */
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

static void distrust(struct trust *t, const struct variable *v, const struct state *writer,
	const struct variable *because)
{
	struct origin *o = &t->from[v - t->m->variables];
	if (o->writer)
		return;
	*o = (struct origin){writer, because};
	t->changed = true;
}

/* What an assignment writes is as untrusted as the state's result, or as what it copies. */
static void spread_assignment(struct trust *t, const struct state *s, const struct assignment *a,
	bool source, const struct variable *input)
{
	t->taken = NULL;
	template_references(a->value, find_taken, t);
	if (source || input)
		distrust(t, a->target, s, source ? NULL : input);
	else if (t->taken)
		distrust(t, a->target, s, t->taken);
}

static void spread(struct trust *t, const struct state *s)
{
	bool source = s->kind == KIND_AGENT || trust_networked(s);
	const struct variable *input = trust_input(t, s);
	if (s->capture.whole && (source || input))
		distrust(t, s->capture.whole, s, source ? NULL : input);
	for (size_t i = 0; i < s->capture.set_count; i++)
		spread_assignment(t, s, &s->capture.set[i], source, input);
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
	for (int pass = 0; t->changed && pass < PASSES_MAX; pass++) {
		t->changed = false;
		for (size_t i = 0; i < m->state_count; i++)
			spread(t, &m->states[pass % 2 ? m->state_count - 1 - i : i]);
	}
}

void trust_done(struct trust *t)
{
	arena_done(&t->arena);
}
