/*
 * Reduce: what a fact means. From a state, the blackboard and an observation to the
 * outcome, the edge and the new blackboard; pure, so that run, resume, replay and test agree.
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
	char reason[REDUCE_REASON_BYTES]; /* why it is not ok, where the fact alone does not say */
};

/* Applies a capture to `blackboard` only when the outcome is ok. -1: the fact is not one of this
 * state's kind. Output that does not conform is an outcome, not an error. */
int reduce(const struct state *state, const json_t *fact, json_t *blackboard, struct reduced *out,
	struct err *e);
/* The clause that wins, as a fact. NULL: a predicate read an absent field, and the machine halts.
 */
json_t *reduce_branch(const struct state *state, const json_t *blackboard, struct err *e);
/* What a person should read about a fact that is not ok, on one line: its reason, or else the last
 * line that the command wrote on stderr; "" when it says nothing. */
void reduce_words(const json_t *fact, char out[REDUCE_REASON_BYTES]);
/* Whether anything reads what the command prints. */
bool reduce_wants_output(const struct state *state);
#endif
