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

/* A flowchart as Mermaid 10 reads it. Each returns -1 when `out` has failed. */
int graph_mermaid(const struct machine *machine, struct buf *out);
int graph_dot(const struct machine *machine, struct buf *out);
/* At most 100 columns: one line for each state in the order of the likely way through, its further
 * edges beside it, a downward arrow where the way goes on; the second one for terminals without
 * UTF-8. */
int graph_text(const struct machine *machine, struct buf *out);
int graph_ascii(const struct machine *machine, struct buf *out);

/* One edge as it is drawn: where to, and its label without line breaks. */
struct graph_edge {
	const struct state *to;
	const char *label; /* "ok, timeout", "count > 3", "else" */
	bool off;          /* only what did not go well leads there */
};
/* The edges of `state` into `edges` (state_edge_count of them at most); labels live in `arena`. */
size_t graph_edges(const struct state *state, struct graph_edge *edges, struct arena *arena);
#endif
