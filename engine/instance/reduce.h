/*
 * Reduce: computes the outcome, the edge and the new blackboard from a state, the blackboard and a
 * fact. Pure, so that run, resume, replay and test agree.
 *
 * Facts are JSON objects, as the journal holds them:
 *   tool    {exit|null, signal|null, timed_out, stdout, stdout_dropped?, stdout_sha256?, not_utf8?,
 *            too_many_values?, stderr_tail, wall_ms, max_rss_kib, lost?, not_kept?, planted?,
 *            moved_aside?, logs_cut?} or
 *            {not_run: REASON}
 *   agent   {outcome, reason, payload, provider, model, usd, input_tokens, output_tokens,
 *            cached_tokens, turns, moved_aside?, logs_cut?}
 *   wait    {wake, woke_by: "timer"|"poke", payload, poke}
 *   branch  {clause}
 */
#ifndef INSTANCE_REDUCE_H
#define INSTANCE_REDUCE_H
#include "machine/machine.h"

enum { REDUCE_REASON_BYTES = 512, REDUCE_STDOUT_MAX = 1024 * 1024 };

struct reduced {
	enum outcome outcome;             /* OUTCOME_COUNT for a branch */
	const char *label;                /* the outcome's name, or the clause's text */
	const struct state *target;       /* the edge */
	char reason[REDUCE_REASON_BYTES]; /* why it is not ok, if the fact alone does not tell */
};

/* Computes the outcome. Applies a capture to `blackboard` only if it is ok. Returns -1 if the fact
 * does not belong to this kind of state. Output that does not conform is an outcome, no error. */
int reduce(const struct state *state, const json_t *fact, json_t *blackboard, struct reduced *out,
	struct err *e);
/* Returns the clause that wins, as a fact. NULL: a predicate read an absent field, and the machine
 * halts. */
json_t *reduce_branch(const struct state *state, const json_t *blackboard, struct err *e);
/* Writes one line for a person about a fact that is not ok: its reason, or else the last line that
 * the command wrote to stderr; "" if there is neither. */
void reduce_words(const json_t *fact, char out[REDUCE_REASON_BYTES]);
/* Reports whether the machine reads the command's output. */
bool reduce_wants_output(const struct state *state);
#endif
