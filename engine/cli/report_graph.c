#include "cli/html.h"
#include "cli/report.h"
#include "machine/graph.h"
#include <string.h>

/*
 * States stand in a column in the order of the file; edges are arcs, downwards on the right and
 * upwards on the left, wider the further they reach. It needs no layout program and stays readable.
 */
enum { BOX_WIDTH = 220, BOX_HEIGHT = 34, ROW = 62, LANE = 18, LANES_MAX = 14 };

static long taken(const struct report *r, const char *from, const char *to)
{
	char key[160];
	snprintf(key, sizeof(key), "%s\n%s", from, to);
	return (long)json_integer_value(json_object_get(r->edges, key));
}

static long visited(const struct report *r, const char *state)
{
	size_t i;
	json_t *name;
	long count = 0;
	json_array_foreach (r->summary.path, i, name)
		count += !strcmp(json_string_value(name), state);
	return count;
}

static int lane_of(size_t from, size_t to)
{
	size_t span = from > to ? from - to : to - from;
	return span < LANES_MAX ? (int)span : LANES_MAX;
}

/* A drawing under way; `margin` is the room for arcs on either side. */
struct drawing {
	const struct report *r;
	struct buf *out;
	int margin;
};

static void draw_edge(const struct drawing *d, const struct state *s, const struct graph_edge *edge)
{
	long count = taken(d->r, s->name, edge->to->name);
	int y1 = (int)s->index * ROW + BOX_HEIGHT / 2 + 4;
	int y2 = (int)edge->to->index * ROW + BOX_HEIGHT / 2 - 4;
	bool down = edge->to->index > s->index;
	int reach = LANE + lane_of(s->index, edge->to->index) * LANE;
	int x = down ? d->margin + BOX_WIDTH : d->margin, bend = down ? x + reach : x - reach;
	buf_addf(d->out, "<path class=\"%s\" d=\"M%d %dC%d %d %d %d %d %d\"><title>",
		count ? "edge taken" : "edge", x, y1, bend, y1, bend, y2, x, y2);
	html_text(d->out, s->name, 64);
	buf_adds(d->out, ": ");
	html_text(d->out, edge->label, 200);
	buf_adds(d->out, " \xe2\x86\x92 ");
	html_text(d->out, edge->to->name, 64);
	buf_addf(d->out, ", taken %ld times</title></path>\n", count);
}

static void draw_state(const struct drawing *d, const struct state *s)
{
	long count = visited(d->r, s->name);
	int x = d->margin, y = (int)s->index * ROW;
	buf_addf(d->out,
		"<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		"rx=\"%d\"/><text "
		"x=\"%d\" y=\"%d\">",
		count ? "state seen" : "state", x, y, BOX_WIDTH, BOX_HEIGHT,
		s->kind == KIND_AGENT ? 17 : 4, x + 12, y + 22);
	html_text(d->out, s->name, 64);
	buf_addf(d->out, "</text><text class=\"kind\" x=\"%d\" y=\"%d\">%s", x + BOX_WIDTH - 12,
		y + 22, state_kind_name(s->kind));
	if (count)
		buf_addf(d->out, " \xc3\x97%ld", count);
	buf_adds(d->out, "</text></g>\n");
}

/* The widest arc decides the margin; a curve reaches three quarters of its control points. */
static int margin_of(const struct machine *m, struct arena *arena)
{
	int lanes = 1;
	for (size_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];
		struct graph_edge *edges =
			arena_array(arena, state_edge_count(s) + 1, sizeof(*edges));
		size_t count = graph_edges(s, edges, arena);
		for (size_t k = 0; k < count; k++)
			if (lane_of(i, edges[k].to->index) > lanes)
				lanes = lane_of(i, edges[k].to->index);
	}
	return (lanes + 1) * LANE * 3 / 4 + 10;
}

void report_graph(const struct report *r, struct buf *out)
{
	const struct machine *m = r->machine;
	struct arena arena;
	arena_init(&arena);
	struct drawing d = {r, out, margin_of(m, &arena)};
	int width = 2 * d.margin + BOX_WIDTH;
	buf_addf(out,
		"<svg role=\"img\" aria-label=\"states and edges\" viewBox=\"0 -8 %d %zu\" "
		"style=\"max-width:%dpx\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" "
		"refX=\"7\" "
		"refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 "
		"4L0 "
		"8z\"/></marker></defs>\n",
		width, m->state_count * ROW + 8, width);
	for (size_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];
		struct graph_edge *edges =
			arena_array(&arena, state_edge_count(s) + 1, sizeof(*edges));
		size_t count = graph_edges(s, edges, &arena);
		for (size_t k = 0; k < count; k++)
			draw_edge(&d, s, &edges[k]);
	}
	for (size_t i = 0; i < m->state_count; i++)
		draw_state(&d, &m->states[i]);
	buf_adds(out, "</svg>\n");
	arena_done(&arena);
}
