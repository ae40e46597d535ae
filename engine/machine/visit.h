/*
 * Visits: everything a state reads, in the order in which it reads it.
 */
#ifndef MACHINE_VISIT_H
#define MACHINE_VISIT_H
#include "machine/predicate.h"
#include "machine/template.h"

/* What a state reads on entry: notify, then prompt, command, stdin, timer or reason. A missing
 * field there halts the machine. */
void state_entry_refs(const struct state *state, ref_visitor *each, void *ctx);
/* What a wait's timer reads. */
void state_timing_refs(const struct state *state, ref_visitor *each, void *ctx);
/* What a branch's conditions read or ask for with has(). */
void state_condition_refs(const struct state *state, ref_visitor *each, void *ctx);
/* What the assignments of a capture read, `result` included. */
void state_capture_refs(const struct state *state, ref_visitor *each, void *ctx);

/* The numbers and strings that a branch's conditions compare with, as new JSON values that `each`
 * takes over. */
void state_condition_literals(
	const struct state *state, void (*each)(void *ctx, json_t *value), void *ctx);

/* The node of the machine file that holds `source`: a text of the state, or the value of
 * prompt_file for a text of that file (`inside` false then). */
const struct doc_node *state_text_node(const struct state *state, const char *source, bool *inside);
#endif
