/*
 * Pictures of a machine: Mermaid, Graphviz dot, and a drawing for terminals.
 */
#ifndef CLI_GRAPH_H
#define CLI_GRAPH_H
#include "base/buf.h"
#include "machine/machine.h"

void graph_mermaid(const struct machine *m, struct buf *out);
void graph_dot(const struct machine *m, struct buf *out);
/* One line per edge, states in the order in which they are reached; stays readable at any size. */
void graph_text(const struct machine *m, struct buf *out);

/* Calls `each` for every edge of a state in order; labels that lead to the same state come as one,
 * joined with ", ". */
void graph_edges(const struct state *s,
	void (*each)(
		void *ctx, const struct state *from, const char *label, const struct state *to),
	void *ctx);
#endif
