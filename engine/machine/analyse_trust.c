#include "machine/analyse.h"
#include "machine/preds.h"
#include "machine/site.h"
#include "machine/visit.h"

/*
 * Untrusted is what a model wrote, what a tool with network brought in, and what a tool made of
 * such data. It stays so from variable to variable: `from` remembers, for each, who wrote it first
 * and because of what, so that the way can be told.
 */
struct origin {
	const struct state *writer;     /* NULL: trusted */
	const struct variable *because; /* what the writer had read; NULL: it is a source itself */
};

/* Passes run forwards and backwards in turn: a chain of any length takes two. */
enum { WAY_SHOWN = 10, PASSES_MAX = 64 };

struct trust {
	const struct machine *m;
	struct findings *findings;
	struct arena arena;
	struct origin *from; /* by variable */
	bool *ungated;       /* by state */
	bool changed;
	const struct variable *taken; /* the untrusted variable that a visit found */
};

static bool networked(const struct state *s)
{
	return s->kind == KIND_TOOL &&
	       (s->tool.network == NETWORK_ALLOW || s->tool.network == NETWORK_LIST);
}

static struct origin *origin_of(const struct trust *t, const struct variable *v)
{
	return &t->from[v - t->m->variables];
}

static void find_taken(void *ctx, const struct ref *ref, const char *source)
{
	struct trust *t = ctx;
	(void)source;
	if (!t->taken && ref->root && origin_of(t, ref->root)->writer)
		t->taken = ref->root;
}

/* The first untrusted variable in a tool's argv or stdin. */
static const struct variable *untrusted_input(struct trust *t, const struct state *s)
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
	struct origin *o = origin_of(t, v);
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
	bool source = s->kind == KIND_AGENT || networked(s);
	const struct variable *input = untrusted_input(t, s);
	if (s->capture.whole && (source || input))
		distrust(t, s->capture.whole, s, source ? NULL : input);
	for (size_t i = 0; i < s->capture.set_count; i++)
		spread_assignment(t, s, &s->capture.set[i], source, input);
}

/* From the source to `v`, at most so many variables back. */
static void show_way(const struct trust *t, const struct variable *v, struct buf *out, int depth)
{
	const struct origin *o = origin_of(t, v);
	if (o->because && depth)
		show_way(t, o->because, out, depth - 1);
	if (o->because)
		buf_addf(out, "%s%s -> ", depth ? "" : "... -> ", o->writer->name);
	else
		buf_addf(out, "%s (%s) -> ", o->writer->name,
			o->writer->kind == KIND_AGENT ? "a model" : "the network");
	buf_addf(out, "%s -> ", v->name);
}

static const struct state *source_of(const struct trust *t, const struct variable *v)
{
	while (origin_of(t, v)->because)
		v = origin_of(t, v)->because;
	return origin_of(t, v)->writer;
}

/* Marks what is entered from a source of untrusted data without passing a wait that only a poke
 * ends: there, no person has decided. */
static void mark_ungated(struct trust *t)
{
	size_t n = t->m->state_count, count = 0;
	bool *seen = arena_array(&t->arena, n, sizeof(bool));
	const struct state **queue = arena_array(&t->arena, n, sizeof(struct state *));
	for (size_t i = 0; i < n; i++) {
		const struct state *s = &t->m->states[i];
		seen[i] = s->capture.present && (s->kind == KIND_AGENT || networked(s));
		if (seen[i])
			queue[count++] = s;
	}
	for (size_t at = 0; at < count; at++)
		for (size_t e = 0; e < state_edge_count(queue[at]); e++) {
			const struct state *next = state_edge(queue[at], e);
			if (!next || (next->kind == KIND_WAIT && !next->wait.timed))
				continue;
			t->ungated[next->index] = true;
			if (!seen[next->index])
				queue[count++] = next;
			seen[next->index] = true;
		}
}

static void check_state(struct trust *t, const struct state *s)
{
	const struct tool_state *tool = &s->tool;
	const struct variable *input = untrusted_input(t, s);
	if (!input)
		return;
	bool sees = tool->workspace != WORKSPACE_NONE || tool->read_count || tool->write_count;
	if (!sees || (!networked(s) && !tool->write_count))
		return;
	AUTO_BUF way;
	buf_init(&way, 4096);
	show_way(t, input, &way, WAY_SHOWN);
	struct site site = {
		.findings = t->findings, .doc = t->m->doc, .node = s->key, .state = s->name};
	struct finding *f = site_report(&site, RULE_RULE_OF_TWO,
		"\"%s\" takes untrusted data, sees %s and can %s: %s%s", s->name,
		tool->workspace != WORKSPACE_NONE ? "the workspace" : "granted files",
		networked(s) ? "reach the network" : "write outside the workspace",
		way.failed ? "" : way.data, s->name);
	if (!t->ungated[s->index]) {
		f->severity = SEVERITY_NOTE;
		t->findings->warnings--;
		site_help(&site, f, "a person pokes it on every way here from \"%s\"",
			source_of(t, input)->name);
	} else {
		site_help(&site, f,
			"take one of the three away: `workspace: none`, no network, or a wait "
			"without a timer before it, so that a person decides");
	}
}

void analyse_trust(const struct machine *m, struct findings *findings)
{
	struct trust t = {.m = m, .findings = findings, .changed = true};
	arena_init(&t.arena);
	t.from = arena_array(&t.arena, m->variable_count, sizeof(*t.from));
	for (int pass = 0; t.changed && pass < PASSES_MAX; pass++) {
		t.changed = false;
		for (size_t i = 0; i < m->state_count; i++)
			spread(&t, &m->states[pass % 2 ? m->state_count - 1 - i : i]);
	}
	t.ungated = arena_array(&t.arena, m->state_count, sizeof(bool));
	mark_ungated(&t);
	for (size_t i = 0; i < m->state_count; i++)
		if (m->states[i].kind == KIND_TOOL)
			check_state(&t, &m->states[i]);
	arena_done(&t.arena);
}
