#include "base/utf8.h"
#include "machine/graph.h"
#include "report/html.h"
#include "report/report_inside.h"
#include "report/text.h"
#include <string.h>

/*
 * States stand in a column in the order of the file, each a card with a line for every edge. From
 * there the edge runs to a lane beside the column, downwards on the right and upwards on the left,
 * and into its target. Edges to the same target share a lane, and lanes that do not meet share
 * their place. It needs no layout program and stays readable.
 */
enum {
	CARD = 268,
	HEAD = 32,
	PORT = 20,
	FOOT = 6,
	GAP = 20,
	LANE = 14,
	BEND = 7,
	PAD = 12,
	PORT_WIDTH = 192,
	NAME_WIDTH = 180
};

/* A lane of all edges that reach `to` from one side: where it runs and how far out. */
struct lane {
	int top, bottom, place;
	bool used;
};

struct card {
	const struct state *state;
	struct graph_edge *edges;
	size_t edge_count;
	int y, height;
	struct lane down, up; /* that end here */
};

struct drawing {
	const struct report *r;
	struct buf *out;
	struct arena arena;
	struct card *cards;
	size_t count;
	int left, height, width; /* left: of the column */
};

/* How often an edge was taken; of a branch, whose conditions may lead to one state, each by itself.
 */
static long taken(const struct report *r, const struct card *c, size_t edge)
{
	const struct state *s = c->state;
	char key[160];
	if (s->kind == KIND_BRANCH) {
		const json_t *sums = json_object_get(r->summary.states, s->name);
		return (long)json_get_int(
			json_object_get(sums, "outcomes"), s->branch.clauses[edge].text);
	}
	snprintf(key, sizeof(key), "%s\n%s", s->name, c->edges[edge].to->name);
	return (long)json_get_int(r->edges, key);
}

static long visited(const struct report *r, const struct state *s)
{
	const json_t *sums = json_object_get(r->summary.states, s->name);
	long times = (long)json_get_int(sums, "times");
	bool here = !strcmp(r->result.state, s->name);
	return times + (here && s->kind == KIND_TERMINAL && r->result.already_ended);
}

static int port_y(const struct card *c, size_t edge)
{
	return c->y + HEAD + (int)edge * PORT + PORT / 2 - 2;
}

/* --- layout ---------------------------------------------------------------------------------- */

static void extend(struct lane *lane, int y, int target_y)
{
	int top = y < target_y ? y : target_y, bottom = y < target_y ? target_y : y;
	lane->top = lane->used && lane->top < top ? lane->top : top;
	lane->bottom = lane->used && lane->bottom > bottom ? lane->bottom : bottom;
	lane->used = true;
}

static void place_cards(struct drawing *d)
{
	const struct machine *m = d->r->machine;
	int y = 2;
	d->count = m->state_count;
	d->cards = arena_array(&d->arena, d->count, sizeof(*d->cards));
	for (size_t i = 0; i < d->count; i++) {
		struct card *c = &d->cards[i];
		c->state = &m->states[i];
		c->edges =
			arena_array(&d->arena, state_edge_count(c->state) + 1, sizeof(*c->edges));
		c->edge_count = graph_edges(c->state, c->edges, &d->arena);
		c->y = y;
		c->height = HEAD + (int)c->edge_count * PORT + (c->edge_count ? FOOT : 0);
		y += c->height + GAP;
	}
	d->height = y - GAP + 2;
}

static void find_lanes(struct drawing *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct card *c = &d->cards[i];
		for (size_t k = 0; k < c->edge_count; k++) {
			struct card *to = &d->cards[c->edges[k].to->index];
			bool down = to->state->index > i;
			extend(down ? &to->down : &to->up, port_y(c, k), to->y + HEAD / 2);
		}
	}
}

static bool meets(const struct lane *a, const struct lane *b)
{
	return a->used && b->used && a->top <= b->bottom + BEND && b->top <= a->bottom + BEND;
}

static struct lane *lane_of(const struct drawing *d, size_t i, bool down)
{
	return down ? &d->cards[i].down : &d->cards[i].up;
}

/* The innermost place that none of the lanes already placed takes. */
static void place_lane(const struct drawing *d, struct lane *lane, bool down)
{
	bool again = true;
	for (lane->place = 1; again; lane->place += again) {
		again = false;
		for (size_t i = 0; i < d->count; i++) {
			const struct lane *other = lane_of(d, i, down);
			again |= other != lane && other->place == lane->place && meets(other, lane);
		}
	}
}

/* Short lanes first: they end up inside. Returns how many places there are. */
static int place_lanes(const struct drawing *d, bool down)
{
	int most = 0;
	for (;;) {
		struct lane *next = NULL;
		for (size_t i = 0; i < d->count; i++) {
			struct lane *l = lane_of(d, i, down);
			if (l->used && !l->place &&
				(!next || l->bottom - l->top < next->bottom - next->top))
				next = l;
		}
		if (!next)
			return most;
		place_lane(d, next, down);
		most = next->place > most ? next->place : most;
	}
}

/* --- drawing --------------------------------------------------------------------------------- */

static void draw_edge(const struct drawing *d, const struct card *c, size_t k)
{
	const struct graph_edge *edge = &c->edges[k];
	const struct card *to = &d->cards[edge->to->index];
	bool down = to->state->index > c->state->index;
	const char *look = taken(d->r, c, k) ? " taken" : "";
	int side = down ? 1 : -1, y = port_y(c, k), end = to->y + HEAD / 2;
	int from = down ? d->left + CARD : d->left;
	int lane = from + side * (PAD + (down ? to->down : to->up).place * LANE);
	int way = end > y ? 1 : -1, bend = end - y == 0 ? 0 : BEND;
	buf_addf(d->out, "<path class=\"edge%s\" d=\"M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d\"/>",
		look, from, y, lane - side * bend, lane, y, lane, y + way * bend, end - way * bend,
		lane, end, lane - side * bend, end, from + side * 6);
	buf_addf(d->out, "<path class=\"tip%s\" d=\"M%d %dl%d -4.5v9z\"/>", look, from, end,
		side * 8);
}

/* The rest of a <text> that begins at x, y: cut, and squeezed where the reader's font might not let
 * it fit into `width`. */
static void add_short(const struct drawing *d, int y, const char *text, int width)
{
	/* Per character: what most take, what nearly always fits, and always. */
	enum { MEAN = 7, NARROW = 8, USUAL = 11 };
	AUTO_BUF clean = BUF_INIT(4096);
	text_clean(&clean, text, (size_t)(width / NARROW));
	size_t chars = utf8_width(clean.data, clean.len);
	buf_addf(d->out, " x=\"%d\" y=\"%d\"", d->left + PAD, y);
	if (chars > (size_t)(width / USUAL))
		buf_addf(d->out, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"",
			(int)chars * MEAN);
	buf_adds(d->out, "><title>");
	html_text(d->out, text, 400);
	buf_adds(d->out, "</title>");
	html_text(d->out, clean.data, 400);
	buf_adds(d->out, "</text>");
}

static void draw_port(const struct drawing *d, const struct card *c, size_t k)
{
	const struct graph_edge *edge = &c->edges[k];
	long count = taken(d->r, c, k);
	int y = port_y(c, k) + 5;
	buf_adds(d->out, count ? "<text" : "<text class=\"quiet\"");
	add_short(d, y, edge->label, PORT_WIDTH);
	if (count)
		buf_addf(d->out, "<text class=\"end\" x=\"%d\" y=\"%d\">\xc3\x97%ld</text>",
			d->left + CARD - PAD, y, count);
}

static void draw_card(const struct drawing *d, const struct card *c)
{
	const struct state *s = c->state;
	bool last = !strcmp(d->r->result.state, s->name);
	bool lost = d->r->result.status == RUN_FAILED || d->r->result.status == RUN_BUDGET;
	buf_addf(d->out,
		"<g class=\"state%s%s%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		"rx=\"%d\"/><text class=\"name\"",
		visited(d->r, s) ? " seen" : "", last ? " last" : "", last && lost ? " lost" : "",
		d->left, c->y, CARD, c->height, s->kind == KIND_TERMINAL ? HEAD / 2 : 7);
	add_short(d, c->y + 21, s->name, NAME_WIDTH);
	buf_addf(d->out, "<text class=\"quiet end\" x=\"%d\" y=\"%d\">%s</text>",
		d->left + CARD - PAD, c->y + 21, state_kind_name(s->kind));
	for (size_t k = 0; k < c->edge_count; k++)
		draw_port(d, c, k);
	buf_adds(d->out, "</g>\n");
}

/* The path taken is drawn last, over everything else. */
static void draw_edges(const struct drawing *d, bool was_taken)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct card *c = &d->cards[i];
		for (size_t k = 0; k < c->edge_count; k++)
			if (was_taken == (taken(d->r, c, k) > 0))
				draw_edge(d, c, k);
	}
}

void report_graph(const struct report *r, struct buf *out)
{
	struct drawing d = {.r = r, .out = out};
	arena_init(&d.arena);
	place_cards(&d);
	find_lanes(&d);
	d.left = place_lanes(&d, false) * LANE + PAD + 4;
	d.width = d.left + CARD + place_lanes(&d, true) * LANE + PAD + 4;
	buf_addf(out,
		"<figure><svg role=\"img\" aria-label=\"states and the edges between them\" "
		"viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n",
		d.width, d.height, d.width, d.height);
	for (size_t i = 0; i < d.count; i++)
		draw_card(&d, &d.cards[i]);
	draw_edges(&d, false);
	draw_edges(&d, true);
	buf_adds(out, "</svg><figcaption>Green: where the run went, and how often.</figcaption>"
		      "</figure>\n");
	arena_done(&d.arena);
}
