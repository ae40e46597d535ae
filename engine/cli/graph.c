#include "cli/graph.h"

#include "cli/text.h"
#include <string.h>

enum { LABEL_BYTES_MAX = 4096, LABEL_COLUMNS = 60 };

typedef void edge_fn(
	void *ctx, const struct state *from, const char *label, const struct state *to);

static void branch_edges(const struct state *s, edge_fn *each, void *ctx)
{
	for (size_t i = 0; i < s->branch.clause_count; i++)
		each(ctx, s, s->branch.clauses[i].text, s->branch.clauses[i].target);
}

static void outcome_edges(const struct state *s, edge_fn *each, void *ctx)
{
	bool done[OUTCOME_COUNT] = {false};
	for (size_t i = 0; i < OUTCOME_COUNT; i++) {
		AUTO_BUF label;
		buf_init(&label, LABEL_BYTES_MAX);
		if (!s->on[i] || done[i])
			continue;
		for (size_t k = i; k < OUTCOME_COUNT; k++) {
			if (s->on[k] != s->on[i])
				continue;
			done[k] = true;
			buf_addf(&label, "%s%s", label.len ? ", " : "",
				outcome_name((enum outcome)k));
		}
		each(ctx, s, label.data, s->on[i]);
	}
}

void graph_edges(const struct state *s, edge_fn *each, void *ctx)
{
	if (s->kind == KIND_BRANCH)
		branch_edges(s, each, ctx);
	else if (s->kind != KIND_TERMINAL)
		outcome_edges(s, each, ctx);
}

/* --- Mermaid
 * -------------------------------------------------------------------------------------- */

/* Everything that could end a label or mean something to Mermaid or HTML becomes an entity. */
static void mermaid_label(struct buf *out, const char *label)
{
	AUTO_BUF clean;
	buf_init(&clean, LABEL_BYTES_MAX);
	text_clean(&clean, label, LABEL_COLUMNS);
	for (const char *p = clean.data ? clean.data : ""; *p; p++) {
		if (strchr("\"#;<>&{}[]()|:\\`", *p))
			buf_addf(out, "#%d;", (unsigned char)*p);
		else
			buf_addc(out, *p);
	}
}

static void mermaid_edge(
	void *ctx, const struct state *from, const char *label, const struct state *to)
{
	struct buf *out = ctx;
	buf_addf(out, "    s%zu -->|\"", from->index);
	mermaid_label(out, label);
	buf_addf(out, "\"| s%zu\n", to->index);
}

void graph_mermaid(const struct machine *m, struct buf *out)
{
	/* Indices name the nodes: "end" and other words are Mermaid's own. */
	static const char *const shapes[KIND_COUNT][2] = {[KIND_AGENT] = {"([", "])"},
		[KIND_TOOL] = {"[", "]"},
		[KIND_WAIT] = {"[/", "/]"},
		[KIND_BRANCH] = {"{", "}"},
		[KIND_TERMINAL] = {"(((", ")))"}};
	buf_addf(out, "flowchart TD\n    start((\" \")) --> s%zu\n", m->initial->index);
	for (size_t i = 0; i < m->state_count; i++) {
		const struct state *s = &m->states[i];
		buf_addf(out, "    s%zu%s\"%s\"%s\n", i, shapes[s->kind][0], s->name,
			shapes[s->kind][1]);
	}
	for (size_t i = 0; i < m->state_count; i++)
		graph_edges(&m->states[i], mermaid_edge, out);
}

/* --- dot
 * ------------------------------------------------------------------------------------------ */

static void dot_edge(void *ctx, const struct state *from, const char *label, const struct state *to)
{
	struct buf *out = ctx;
	AUTO_BUF clean;
	buf_init(&clean, LABEL_BYTES_MAX);
	text_clean(&clean, label, LABEL_COLUMNS);
	buf_addf(out, "\t\"%s\" -> \"%s\" [label=\"", from->name, to->name);
	for (const char *p = clean.data ? clean.data : ""; *p; p++)
		buf_addf(out, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p);
	buf_adds(out, "\"]\n");
}

void graph_dot(const struct machine *m, struct buf *out)
{
	static const char *const shapes[KIND_COUNT] = {[KIND_AGENT] = "ellipse",
		[KIND_TOOL] = "box",
		[KIND_WAIT] = "parallelogram",
		[KIND_BRANCH] = "diamond",
		[KIND_TERMINAL] = "doublecircle"};
	buf_addf(out,
		"digraph \"%s\" {\n\trankdir=TB\n\tnode [fontname=\"sans-serif\"]\n"
		"\tedge [fontname=\"sans-serif\", fontsize=10]\n\t\"\" [shape=point]\n\t\"\" -> "
		"\"%s\"\n",
		m->name, m->initial->name);
	for (size_t i = 0; i < m->state_count; i++)
		buf_addf(
			out, "\t\"%s\" [shape=%s]\n", m->states[i].name, shapes[m->states[i].kind]);
	for (size_t i = 0; i < m->state_count; i++)
		graph_edges(&m->states[i], dot_edge, out);
	buf_adds(out, "}\n");
}

/* --- text
 * ----------------------------------------------------------------------------------------- */

/* States in the order in which a walk from the first one meets them. */
struct walk {
	const struct state **order;
	size_t count;
	bool *seen;
	struct buf *out;
};

static void meet(void *ctx, const struct state *from, const char *label, const struct state *to)
{
	struct walk *w = ctx;
	(void)from;
	(void)label;
	if (w->seen[to->index])
		return;
	w->seen[to->index] = true;
	w->order[w->count++] = to;
}

static void text_edge(
	void *ctx, const struct state *from, const char *label, const struct state *to)
{
	struct walk *w = ctx;
	struct buf *out = w->out;
	size_t position = 0;
	while (w->order[position] != to)
		position++;
	(void)from;
	buf_adds(out, "      |- ");
	size_t at = out->len;
	text_clean(out, label, LABEL_COLUMNS);
	text_pad(out, at, 30);
	buf_addf(out, "-> %zu %s\n", position + 1, to->name);
}

static void text_state(struct walk *w, size_t position)
{
	const struct state *s = w->order[position];
	buf_addf(w->out, "%4zu  %s  (%s", position + 1, s->name, state_kind_name(s->kind));
	if (s->kind == KIND_TERMINAL)
		buf_addf(w->out, ", %s", s->terminal.ok ? "ok" : "failed");
	buf_adds(w->out, position ? ")\n" : ", initial)\n");
	graph_edges(s, text_edge, w);
}

void graph_text(const struct machine *m, struct buf *out)
{
	struct arena arena;
	arena_init(&arena);
	struct walk w = {.order = arena_array(&arena, m->state_count, sizeof(struct state *)),
		.seen = arena_array(&arena, m->state_count, sizeof(bool)),
		.out = out};
	meet(&w, NULL, NULL, m->initial);
	for (size_t i = 0; i < w.count; i++)
		graph_edges(w.order[i], meet, &w);
	for (size_t i = 0; i < w.count; i++)
		text_state(&w, i);
	arena_done(&arena);
}
