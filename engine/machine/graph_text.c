#include "machine/graph.h"

#include "base/utf8.h"
#include <string.h>

struct glyphs {
	const char *first, *state, *self, *up, *down, *bar, *dash, *on;
};
static const struct glyphs lines = {
	"\u25b6", "\u25cf", "\u21ba", "\u2191", "\u2193", "\u2502", "\u2500", "\u25bc"};
static const struct glyphs ascii = {">", "*", "@", "^", "v", "|", "-", "v"};

/*
 * The way through is drawn straight down: from each state on to the likely next one that is not
 * drawn yet. Its other edges stand beside the line, with an arrow that says whether their state is
 * further up or down. Where the way ends, it starts again at the next state that is left.
 */
struct drawing {
	const struct machine *m;
	const struct glyphs *use;
	struct buf *out;
	struct arena arena;
	size_t *line;  /* by state: its place in the order of drawing, from 1 */
	size_t *order; /* states in that order */
	size_t *next;  /* by state: index + 1 of the state that the line goes on to */
	size_t count;
};

/* The edge an author thinks of first: ok, tick, or the last clause; a failed end is thought of
 * last. */
static const struct state *likely(const struct drawing *d, const struct state *s)
{
	static const enum outcome wishes[] = {OUTCOME_OK, OUTCOME_TICK, OUTCOME_SIGNAL,
		OUTCOME_FAILED, OUTCOME_NONZERO, OUTCOME_TIMEOUT, OUTCOME_BUDGET_EXHAUSTED};
	const struct state *found = NULL;
	if (s->kind == KIND_BRANCH) {
		for (size_t i = 0; i < s->branch.clause_count; i++)
			if (!d->line[s->branch.clauses[i].target->index])
				found = s->branch.clauses[i].target;
		return found;
	}
	for (size_t i = 0; i < 2 * ARRAY_LEN(wishes) && !found; i++) {
		const struct state *to = s->on[wishes[i % ARRAY_LEN(wishes)]];
		bool fails = to && to->kind == KIND_TERMINAL && !to->terminal.ok;
		if (to && !d->line[to->index] && (!fails || i >= ARRAY_LEN(wishes)))
			found = to;
	}
	return found;
}

static void follow(struct drawing *d, const struct state *s)
{
	while (s) {
		d->order[d->count++] = s->index;
		d->line[s->index] = d->count;
		const struct state *to = likely(d, s);
		d->next[s->index] = to ? to->index + 1 : 0;
		s = to;
	}
}

/* What the drawn states lead to, in the order of drawing. */
static void follow_rest(struct drawing *d, bool ends)
{
	for (size_t at = 0; at < d->count; at++) {
		const struct state *s = &d->m->states[d->order[at]];
		for (size_t i = 0; i < state_edge_count(s); i++) {
			const struct state *to = state_edge(s, i);
			if (to && !d->line[to->index] && (ends || to->kind != KIND_TERMINAL))
				follow(d, to);
		}
	}
}

/* The main line, what leaves it, and the ends that are left. */
static void arrange(struct drawing *d)
{
	follow(d, d->m->initial);
	follow_rest(d, false);
	follow_rest(d, true);
}

static void draw_head(struct drawing *d, const struct state *s)
{
	buf_addf(d->out, "%s %s", s == d->m->initial ? d->use->first : d->use->state, s->name);
	if (s->kind == KIND_TERMINAL)
		buf_addf(d->out, "  (end: %s)\n", s->terminal.ok ? "ok" : "failed");
	else
		buf_addf(d->out, "  (%s)\n", state_kind_name(s->kind));
}

static void draw_side(
	struct drawing *d, const struct state *s, const struct graph_edge *edge, size_t width)
{
	const char *where = edge->to == s                                  ? d->use->self
			    : d->line[edge->to->index] < d->line[s->index] ? d->use->up
									   : d->use->down;
	buf_addf(d->out, "%s   %s ", d->use->bar, edge->label);
	for (size_t i = utf8_width(edge->label, strlen(edge->label)); i < width; i++)
		buf_adds(d->out, d->use->dash);
	buf_addf(d->out, "%s%s %s %s\n", d->use->dash, d->use->dash, where, edge->to->name);
}

static void draw_state(struct drawing *d, const struct state *s)
{
	struct graph_edge *edges = arena_array(&d->arena, state_edge_count(s), sizeof(*edges));
	size_t count = graph_edges(s, edges, &d->arena), on = count;
	draw_head(d, s);
	size_t width = 0;
	for (size_t i = 0; i < count; i++) {
		size_t columns = utf8_width(edges[i].label, strlen(edges[i].label));
		if (d->next[s->index] && edges[i].to->index + 1 == d->next[s->index])
			on = i;
		if (columns > width)
			width = columns;
	}
	for (size_t i = 0; i < count; i++)
		if (i != on)
			draw_side(d, s, &edges[i], width);
	if (on < count)
		buf_addf(d->out, "%s %s\n", d->use->on, edges[on].label);
	else
		buf_adds(d->out, "\n");
}

static int draw(const struct machine *m, const struct glyphs *use, struct buf *out)
{
	struct drawing d = {.m = m, .use = use, .out = out};
	arena_init(&d.arena);
	d.line = arena_array(&d.arena, m->state_count, sizeof(size_t));
	d.order = arena_array(&d.arena, m->state_count, sizeof(size_t));
	d.next = arena_array(&d.arena, m->state_count, sizeof(size_t));
	arrange(&d);
	buf_addf(out, "%s: %zu state%s\n\n", m->name, m->state_count,
		m->state_count == 1 ? "" : "s");
	for (size_t i = 0; i < d.count; i++)
		draw_state(&d, &m->states[d.order[i]]);
	arena_done(&d.arena);
	return out->failed ? -1 : 0;
}

int graph_text(const struct machine *m, struct buf *out)
{
	return draw(m, &lines, out);
}

int graph_ascii(const struct machine *m, struct buf *out)
{
	return draw(m, &ascii, out);
}
