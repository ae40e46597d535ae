/*
 * Visits: calls a function for everything that a state reads, in the order in which it reads it.
 */
#ifndef MACHINE_VISIT_H
#define MACHINE_VISIT_H
#include "machine/predicate.h"
#include "machine/template.h"

/* Visits the references that a state reads on entry: notify, then prompt, command, stdin, timer, or
 * reason and returns. A missing field there halts the machine. */
void state_entry_refs(const struct state *state, ref_visitor *each, void *ctx);
/* Visits the references of a wait's timer. */
void state_timing_refs(const struct state *state, ref_visitor *each, void *ctx);
/* Visits the references that a branch's conditions read or ask for with has(). */
void state_condition_refs(const struct state *state, ref_visitor *each, void *ctx);
/* Visits the references in the assignments of a capture, `result` included. */
void state_capture_refs(const struct state *state, ref_visitor *each, void *ctx);
/* Visits those of a capture_failure, `failure` included. */
void state_failure_refs(const struct state *state, ref_visitor *each, void *ctx);

/* Gives `each` the numbers and strings that a branch's conditions compare with, as new JSON values
 * that it takes over. */
void state_condition_literals(
	const struct state *state, void (*each)(void *ctx, json_t *value), void *ctx);

/* Returns the node of the machine file that holds `source`: a text of the state, or the value of
 * prompt_file for a text of that file (`inside` is false then). */
const struct doc_node *state_text_node(const struct state *state, const char *source, bool *inside);
#endif
