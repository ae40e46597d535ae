#include "base/utf8.h"
#include "machine/graph.h"
#include "machine/kind.h"
#include "report/html.h"
#include "report/report_private.h"
#include "report/text.h"
#include <string.h>

/*
 * The drawing: states stand in a column in the order of the file, each a card with a line for every
 * edge. From there the edge runs to a lane beside the column, downwards on the right and upwards on
 * the left, and into its target. Edges to the same target share a lane, and lanes that do not meet
 * share a place. It needs no layout program and stays readable.
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

/* A lane for all edges that reach `to` from one side: its ends, and how far out it runs. */
struct lane {
	int top, bottom, place;
	bool used;
};

struct card {
	const struct state *state;
	struct graph_edge *edges;
	size_t edge_count;
	int y, height;
	struct lane down, up; /* the lanes that end here */
};

struct drawing {
	const struct report *r;
	struct buf *out;
	struct arena arena;
	struct card *cards;
	size_t count;
	int left, height, width; /* left: of the column */
};

/* Returns how often an edge was taken. Clauses of a branch are counted one by one, since several
 * may lead to one state. */
static long taken(const struct report *report, const struct card *card, size_t edge)
{
	const struct state *s = card->state;
	char key[160];
	if (s->clauses) {
		const json_t *sums = json_object_get(report->summary.states, s->name);
		return (long)json_get_int(
			json_object_get(sums, "outcomes"), state_edge_label(s, edge));
	}
	snprintf(key, sizeof(key), "%s\n%s", s->name, card->edges[edge].to->name);
	return (long)json_get_int(report->edges, key);
}

static long visited(const struct report *report, const struct state *state)
{
	const json_t *sums = json_object_get(report->summary.states, state->name);
	long times = (long)json_get_int(sums, "times");
	bool here = !strcmp(report->result.state, state->name);
	return times + (here && state_is(state, TRAIT_ENDS) && report->result.already_ended);
}

static int port_y(const struct card *card, size_t edge)
{
	return card->y + HEAD + (int)edge * PORT + PORT / 2 - 2;
}

/* --- layout ---------------------------------------------------------------------------------- */

static void extend(struct lane *lane, int y, int target_y)
{
	int top = y < target_y ? y : target_y, bottom = y < target_y ? target_y : y;
	lane->top = lane->used && lane->top < top ? lane->top : top;
	lane->bottom = lane->used && lane->bottom > bottom ? lane->bottom : bottom;
	lane->used = true;
}

static void place_cards(struct drawing *drawing)
{
	const struct machine *m = drawing->r->machine;
	int y = 2;
	drawing->count = m->state_count;
	drawing->cards = arena_array(&drawing->arena, drawing->count, sizeof(*drawing->cards));
	for (size_t i = 0; i < drawing->count; i++) {
		struct card *c = &drawing->cards[i];
		c->state = &m->states[i];
		c->edges = arena_array(
			&drawing->arena, state_edge_count(c->state) + 1, sizeof(*c->edges));
		c->edge_count = graph_edges(c->state, c->edges, &drawing->arena);
		c->y = y;
		c->height = HEAD + (int)c->edge_count * PORT + (c->edge_count ? FOOT : 0);
		y += c->height + GAP;
	}
	drawing->height = y - GAP + 2;
}

static void find_lanes(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->count; i++) {
		const struct card *c = &drawing->cards[i];
		for (size_t k = 0; k < c->edge_count; k++) {
			struct card *to = &drawing->cards[c->edges[k].to->index];
			bool down = to->state->index > i;
			extend(down ? &to->down : &to->up, port_y(c, k), to->y + HEAD / 2);
		}
	}
}

static bool meets(const struct lane *a, const struct lane *b)
{
	return a->used && b->used && a->top <= b->bottom + BEND && b->top <= a->bottom + BEND;
}

static struct lane *lane_of(const struct drawing *drawing, size_t i, bool down)
{
	return down ? &drawing->cards[i].down : &drawing->cards[i].up;
}

/* Puts the lane into the innermost place that no lane so far takes there. */
static void place_lane(const struct drawing *drawing, struct lane *lane, bool down)
{
	bool again = true;
	for (lane->place = 1; again; lane->place += again) {
		again = false;
		for (size_t i = 0; i < drawing->count; i++) {
			const struct lane *other = lane_of(drawing, i, down);
			again |= other != lane && other->place == lane->place && meets(other, lane);
		}
	}
}

/* Places short lanes first, so that they lie inside. Returns the number of places. */
static int place_lanes(const struct drawing *drawing, bool down)
{
	int most = 0;
	for (;;) {
		struct lane *next = NULL;
		for (size_t i = 0; i < drawing->count; i++) {
			struct lane *l = lane_of(drawing, i, down);
			if (l->used && !l->place &&
				(!next || l->bottom - l->top < next->bottom - next->top))
				next = l;
		}
		if (!next)
			return most;
		place_lane(drawing, next, down);
		most = next->place > most ? next->place : most;
	}
}

/* --- drawing --------------------------------------------------------------------------------- */

static void draw_edge(const struct drawing *drawing, const struct card *card, size_t k)
{
	const struct graph_edge *edge = &card->edges[k];
	const struct card *to = &drawing->cards[edge->to->index];
	bool down = to->state->index > card->state->index;
	const char *look = taken(drawing->r, card, k) ? " taken" : "";
	int side = down ? 1 : -1, y = port_y(card, k), end = to->y + HEAD / 2;
	int from = down ? drawing->left + CARD : drawing->left;
	int lane = from + side * (PAD + (down ? to->down : to->up).place * LANE);
	int way = end > y ? 1 : -1, bend = end - y == 0 ? 0 : BEND;
	buf_addf(drawing->out,
		"<path class=\"edge%s\" d=\"M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d\"/>", look,
		from, y, lane - side * bend, lane, y, lane, y + way * bend, end - way * bend, lane,
		end, lane - side * bend, end, from + side * 6);
	buf_addf(drawing->out, "<path class=\"tip%s\" d=\"M%d %dl%d -4.5v9z\"/>", look, from, end,
		side * 8);
}

/* Adds the rest of a <text> that begins at x, y: cut, and squeezed if the reader's font might not
 * fit it into `width`. */
static void add_short(const struct drawing *drawing, int y, const char *text, int width)
{
	/* Widths per character: of most, of nearly all, and of all. */
	enum { MEAN = 7, NARROW = 8, USUAL = 11 };
	AUTO_BUF clean = BUF_INIT(4096);
	text_clean(&clean, text, (size_t)(width / NARROW));
	size_t chars = utf8_width(clean.data, clean.len);
	buf_addf(drawing->out, " x=\"%d\" y=\"%d\"", drawing->left + PAD, y);
	if (chars > (size_t)(width / USUAL))
		buf_addf(drawing->out, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"",
			(int)chars * MEAN);
	buf_adds(drawing->out, "><title>");
	html_text(drawing->out, text, 400);
	buf_adds(drawing->out, "</title>");
	html_text(drawing->out, clean.data, 400);
	buf_adds(drawing->out, "</text>");
}

static void draw_port(const struct drawing *drawing, const struct card *card, size_t k)
{
	const struct graph_edge *edge = &card->edges[k];
	long count = taken(drawing->r, card, k);
	int y = port_y(card, k) + 5;
	buf_adds(drawing->out, count ? "<text" : "<text class=\"quiet\"");
	add_short(drawing, y, edge->label, PORT_WIDTH);
	if (count)
		buf_addf(drawing->out, "<text class=\"end\" x=\"%d\" y=\"%d\">\xc3\x97%ld</text>",
			drawing->left + CARD - PAD, y, count);
}

static void draw_card(const struct drawing *drawing, const struct card *card)
{
	const struct state *s = card->state;
	bool last = !strcmp(drawing->r->result.state, s->name);
	bool lost =
		drawing->r->result.status == RUN_FAILED || drawing->r->result.status == RUN_BUDGET;
	buf_addf(drawing->out,
		"<g class=\"state%s%s%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		"rx=\"%d\"/><text class=\"name\"",
		visited(drawing->r, s) ? " seen" : "", last ? " last" : "",
		last && lost ? " lost" : "", drawing->left, card->y, CARD, card->height,
		state_is(s, TRAIT_ENDS) ? HEAD / 2 : 7);
	add_short(drawing, card->y + 21, s->name, NAME_WIDTH);
	buf_addf(drawing->out, "<text class=\"quiet end\" x=\"%d\" y=\"%d\">%s</text>",
		drawing->left + CARD - PAD, card->y + 21, state_kind_name(s->kind));
	for (size_t k = 0; k < card->edge_count; k++)
		draw_port(drawing, card, k);
	buf_adds(drawing->out, "</g>\n");
}

/* Draws the edges; the taken ones are drawn last, over everything else. */
static void draw_edges(const struct drawing *drawing, bool was_taken)
{
	for (size_t i = 0; i < drawing->count; i++) {
		const struct card *c = &drawing->cards[i];
		for (size_t k = 0; k < c->edge_count; k++)
			if (was_taken == (taken(drawing->r, c, k) > 0))
				draw_edge(drawing, c, k);
	}
}

void report_graph(const struct report *report, struct buf *out)
{
	struct drawing d = {.r = report, .out = out};
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
