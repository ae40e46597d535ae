#include "machine/graph.h"

#include "base/utf8.h"
#include "machine/kind.h"
#include <string.h>

enum { LABEL_BYTES = 4096, LABEL_CHARS = 48 };

/* Returns one line of at most LABEL_CHARS characters, whatever `text` holds. */
static const char *one_line(const char *text, struct arena *arena)
{
	AUTO_BUF b = BUF_INIT(LABEL_BYTES);
	size_t chars = 0, len = strlen(text), at = 0;
	for (size_t n; at < len && chars < LABEL_CHARS; at += n, chars++) {
		uint32_t code = 0;
		n = utf8_step(text + at, len - at, &code);
		if (strchr("\n\r\t", text[at]))
			buf_addc(&b, ' ');
		else if (!n || utf8_is_odd(code))
			buf_adds(&b, "\ufffd");
		else
			buf_add(&b, text + at, n);
		n = n ? n : 1;
	}
	if (at < len)
		buf_adds(&b, "\u2026");
	return arena_copy(arena, b.data, b.len);
}

static size_t clause_edges(const struct state *state, struct graph_edge *edges, struct arena *arena)
{
	for (size_t i = 0; i < state->clause_count; i++)
		edges[i] = (struct graph_edge){
			state->clauses[i].target, one_line(state->clauses[i].text, arena), false};
	size_t count = state->clause_count;
	if (state->on[OUTCOME_EXHAUSTED])
		edges[count++] = (struct graph_edge){
			state->on[OUTCOME_EXHAUSTED], outcome_name(OUTCOME_EXHAUSTED), true};
	return count;
}

/* Returns "ok, timeout": every outcome from `first` on that leads to the same state as `first`. */
static const char *outcomes_to(const struct state *state, size_t first, struct arena *arena)
{
	AUTO_BUF b = BUF_INIT(LABEL_BYTES);
	for (unsigned i = (unsigned)first; i < OUTCOME_COUNT; i++)
		if (state->on[i] == state->on[first])
			buf_addf(&b, "%s%s", b.len ? ", " : "", outcome_name(i));
	return arena_copy(arena, b.data, b.len);
}

static bool goes_well_to(const struct state *state, const struct state *to)
{
	return state->on[OUTCOME_OK] == to || state->on[OUTCOME_TICK] == to ||
	       state->on[OUTCOME_SIGNAL] == to;
}

size_t graph_edges(const struct state *state, struct graph_edge *edges, struct arena *arena)
{
	size_t count = 0;
	if (state->clauses)
		return clause_edges(state, edges, arena);
	for (size_t i = 0; i < OUTCOME_COUNT; i++) {
		bool drawn = !state->on[i];
		for (size_t k = 0; k < count; k++)
			drawn |= edges[k].to == state->on[i];
		if (!drawn)
			edges[count++] = (struct graph_edge){state->on[i],
				outcomes_to(state, i, arena), !goes_well_to(state, state->on[i])};
	}
	return count;
}

/* Calls `each` for every edge of every state. */
static void all_edges(const struct machine *machine, struct buf *out,
	void (*each)(struct buf *out, const struct state *from, const struct graph_edge *edge))
{
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct state *s = &machine->states[i];
		struct graph_edge *edges = arena_array(&arena, state_edge_count(s), sizeof(*edges));
		size_t count = graph_edges(s, edges, &arena);
		for (size_t k = 0; k < count; k++)
			each(out, s, &edges[k]);
	}
	arena_done(&arena);
}

/* Returns the text after a state's name, so that a failed end is recognised without colours. */
static const char *ending(const struct state *state)
{
	return state_fails(state) ? ": failed" : "";
}

/* --- Mermaid ---------------------------------------------------------------------------------- */

/* Adds text inside quotes, where Mermaid still reads markup; characters by number are always
 * text. */
static void add_mermaid_text(struct buf *out, const char *text)
{
	for (size_t len = strlen(text), n; len; text += n, len -= n) {
		uint32_t code = 0;
		n = utf8_step(text, len, &code);
		bool plain = code >= 0x80 || (code >= '0' && code <= '9') ||
			     (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
			     (code && code < 0x80 && strchr(" _-.,:/", (int)code));
		n = n ? n : 1;
		if (plain)
			buf_add(out, text, n);
		else
			buf_addf(out, "#%u;", code);
	}
}

static void mermaid_edge(struct buf *out, const struct state *from, const struct graph_edge *edge)
{
	buf_addf(out, "    n%zu %s|\"", from->index, edge->off ? "-.->" : "-->");
	add_mermaid_text(out, edge->label);
	buf_addf(out, "\"| n%zu\n", edge->to->index);
}

int graph_mermaid(const struct machine *machine, struct buf *out)
{
	buf_adds(out, "flowchart TD\n");
	buf_addf(out, "    start((\" \")) --> n%zu\n", machine->initial->index);
	for (size_t i = 0; i < machine->state_count; i++) {
		const struct state *s = &machine->states[i];
		buf_addf(out, "    n%zu%s", i, kind_of(s)->mermaid_open);
		add_mermaid_text(out, s->name);
		buf_addf(out, "%s%s\n", ending(s), kind_of(s)->mermaid_close);
	}
	all_edges(machine, out, mermaid_edge);
	return out->failed ? -1 : 0;
}

/* --- DOT -------------------------------------------------------------------------------------- */

/* Adds a label. Graphviz reads entities in it as HTML: "&#27;" would be drawn as the character. */
static void add_dot_text(struct buf *out, const char *before, const char *text, const char *behind)
{
	buf_addf(out, "\"%s", before);
	for (; *text; text++)
		buf_addf(out, "%s%c%s", strchr("\"\\", *text) ? "\\" : "", *text,
			*text == '&' ? "amp;" : "");
	buf_addf(out, "%s\"", behind);
}

/* Draws an edge. Blanks around the label keep it off the line and its neighbours. Edges of success
 * are kept straight, others may bend around them. */
static void dot_edge(struct buf *out, const struct state *from, const struct graph_edge *edge)
{
	buf_addf(out, "\tn%zu -> n%zu [label=", from->index, edge->to->index);
	add_dot_text(out, " ", edge->label, " ");
	buf_addf(out, ", %s];\n",
		edge->off ? "weight=0, style=dashed, color=\"#9aa5b0\"" : "weight=8");
}

int graph_dot(const struct machine *machine, struct buf *out)
{
	buf_adds(out, "digraph ");
	add_dot_text(out, "", machine->name, "");
	buf_adds(out, " {\n\tgraph [pad=0.2, nodesep=0.4, ranksep=0.5];\n"
		      "\tnode [shape=box, style=filled, fontname=\"sans-serif\", fontsize=12];\n"
		      "\tedge [fontname=\"sans-serif\", fontsize=10, color=\"#56616d\", "
		      "arrowsize=0.7];\n\tstart [shape=point];\n");
	buf_addf(out, "\tstart -> n%zu;\n", machine->initial->index);
	for (size_t i = 0; i < machine->state_count; i++) {
		buf_addf(out, "\tn%zu [label=", i);
		add_dot_text(out, "", machine->states[i].name, ending(&machine->states[i]));
		buf_addf(out, ", %s];\n",
			kind_of(&machine->states[i])->dot_style(&machine->states[i]));
	}
	all_edges(machine, out, dot_edge);
	buf_adds(out, "}\n");
	return out->failed ? -1 : 0;
}
