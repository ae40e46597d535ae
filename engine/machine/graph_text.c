#include "machine/graph.h"

#include "base/utf8.h"
#include "machine/kind.h"
#include <string.h>

struct glyphs {
	const char *first, *state, *self, *up, *down, *bar, *dash, *on;
};
static const struct glyphs lines = {
	"\u25b6", "\u25cf", "\u21ba", "\u2191", "\u2193", "\u2502", "\u2500", "\u25bc"};
static const struct glyphs ascii = {">", "*", "@", "^", "v", "|", "-", "v"};

/*
 * The drawing of the way through: straight down from each state to the likely next one that is not
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

/* Returns the edge that an author thinks of first: ok, tick, or the last clause; a failed end comes
 * last. */
static const struct state *likely(const struct drawing *drawing, const struct state *state)
{
	static const enum outcome wishes[] = {OUTCOME_OK, OUTCOME_TICK, OUTCOME_SIGNAL,
		OUTCOME_FAILED, OUTCOME_NONZERO, OUTCOME_TIMEOUT, OUTCOME_BUDGET_EXHAUSTED};
	const struct state *found = NULL;
	if (state->clauses) {
		for (size_t i = 0; i < state->clause_count; i++)
			if (!drawing->line[state->clauses[i].target->index])
				found = state->clauses[i].target;
		return found;
	}
	for (size_t i = 0; i < 2 * ARRAY_LEN(wishes) && !found; i++) {
		const struct state *to = state->on[wishes[i % ARRAY_LEN(wishes)]];
		bool fails = to && state_fails(to);
		if (to && !drawing->line[to->index] && (!fails || i >= ARRAY_LEN(wishes)))
			found = to;
	}
	return found;
}

static void follow(struct drawing *drawing, const struct state *state)
{
	while (state) {
		drawing->order[drawing->count++] = state->index;
		drawing->line[state->index] = drawing->count;
		const struct state *to = likely(drawing, state);
		drawing->next[state->index] = to ? to->index + 1 : 0;
		state = to;
	}
}

/* Follows the remaining edges of the drawn states, in the order of drawing. */
static void follow_rest(struct drawing *drawing, bool ends)
{
	for (size_t at = 0; at < drawing->count; at++) {
		const struct state *s = &drawing->m->states[drawing->order[at]];
		for (size_t i = 0; i < state_edge_count(s); i++) {
			const struct state *to = state_edge(s, i);
			if (to && !drawing->line[to->index] && (ends || !state_is(to, TRAIT_ENDS)))
				follow(drawing, to);
		}
	}
}

/* Arranges the main line, its side ways, and the ends that are left. */
static void arrange(struct drawing *drawing)
{
	follow(drawing, drawing->m->initial);
	follow_rest(drawing, false);
	follow_rest(drawing, true);
}

static void draw_head(struct drawing *drawing, const struct state *state)
{
	buf_addf(drawing->out, "%s %s",
		state == drawing->m->initial ? drawing->use->first : drawing->use->state,
		state->name);
	if (state_is(state, TRAIT_ENDS))
		buf_addf(drawing->out, "  (end: %s)\n", state_fails(state) ? "failed" : "ok");
	else
		buf_addf(drawing->out, "  (%s)\n", state_kind_name(state->kind));
}

static void draw_side(struct drawing *drawing, const struct state *state,
	const struct graph_edge *edge, size_t width)
{
	const char *where = edge->to == state ? drawing->use->self
			    : drawing->line[edge->to->index] < drawing->line[state->index]
				    ? drawing->use->up
				    : drawing->use->down;
	buf_addf(drawing->out, "%s   %s ", drawing->use->bar, edge->label);
	for (size_t i = utf8_width(edge->label, strlen(edge->label)); i < width; i++)
		buf_adds(drawing->out, drawing->use->dash);
	buf_addf(drawing->out, "%s%s %s %s\n", drawing->use->dash, drawing->use->dash, where,
		edge->to->name);
}

static void draw_state(struct drawing *drawing, const struct state *state)
{
	struct graph_edge *edges =
		arena_array(&drawing->arena, state_edge_count(state), sizeof(*edges));
	size_t count = graph_edges(state, edges, &drawing->arena), on = count;
	draw_head(drawing, state);
	size_t width = 0;
	for (size_t i = 0; i < count; i++) {
		size_t columns = utf8_width(edges[i].label, strlen(edges[i].label));
		if (drawing->next[state->index] &&
			edges[i].to->index + 1 == drawing->next[state->index])
			on = i;
		if (columns > width)
			width = columns;
	}
	for (size_t i = 0; i < count; i++)
		if (i != on)
			draw_side(drawing, state, &edges[i], width);
	if (on < count)
		buf_addf(drawing->out, "%s %s\n", drawing->use->on, edges[on].label);
	else
		buf_adds(drawing->out, "\n");
}

static int draw(const struct machine *machine, const struct glyphs *use, struct buf *out)
{
	struct drawing d = {.m = machine, .use = use, .out = out};
	arena_init(&d.arena);
	d.line = arena_array(&d.arena, machine->state_count, sizeof(size_t));
	d.order = arena_array(&d.arena, machine->state_count, sizeof(size_t));
	d.next = arena_array(&d.arena, machine->state_count, sizeof(size_t));
	arrange(&d);
	buf_addf(out, "%s: %zu state%s\n\n", machine->name, machine->state_count,
		machine->state_count == 1 ? "" : "s");
	for (size_t i = 0; i < d.count; i++)
		draw_state(&d, &machine->states[d.order[i]]);
	arena_done(&d.arena);
	return out->failed ? -1 : 0;
}

int graph_text(const struct machine *machine, struct buf *out)
{
	return draw(machine, &lines, out);
}

int graph_ascii(const struct machine *machine, struct buf *out)
{
	return draw(machine, &ascii, out);
}
