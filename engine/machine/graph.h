/*
 * The graph: a machine as a picture, in Mermaid, Graphviz' DOT, or plain text for a terminal.
 *
 * Every label is data: whatever a condition or name holds, it cannot end its quotes or become
 * markup. Outcomes that lead to the same state share one edge.
 */
#ifndef MACHINE_GRAPH_H
#define MACHINE_GRAPH_H
#include "base/buf.h"
#include "machine/machine.h"

/* Write a flowchart for Mermaid 10, or one for Graphviz. Return -1 when `out` has failed. */
int graph_mermaid(const struct machine *machine, struct buf *out);
int graph_dot(const struct machine *machine, struct buf *out);
/* Write at most 100 columns: one line for each state in the order of the likely way through, its
 * further edges beside it, a downward arrow where the way goes on. The second is for terminals
 * without UTF-8. */
int graph_text(const struct machine *machine, struct buf *out);
int graph_ascii(const struct machine *machine, struct buf *out);

/* One edge to draw: its target, and its label without line breaks. */
struct graph_edge {
	const struct state *to;
	const char *label; /* "ok, timeout", "count > 3", "else" */
	bool off;          /* only failures lead there */
};
/* Fills `edges` with the edges of `state` (at most state_edge_count); labels live in `arena`. */
size_t graph_edges(const struct state *state, struct graph_edge *edges, struct arena *arena);
#endif
