/*
 * Reduce: computes the outcome, the edge and the new blackboard from a state, the blackboard and a
 * fact. Pure, so that run, resume, replay and test agree.
 */
#ifndef INSTANCE_REDUCE_H
#define INSTANCE_REDUCE_H
#include "contract/fact.h"
#include "machine/machine.h"

enum { REDUCE_REASON_BYTES = 512, REDUCE_STDOUT_MAX = 1024 * 1024 };
/* Limit of a machine's result, as JSON. */
enum { REDUCE_RETURNS_MAX = 8 * 1024 * 1024 };

struct reduced {
	enum outcome outcome;             /* OUTCOME_COUNT for a branch */
	const char *label;                /* the outcome's name, or the clause's text */
	const struct state *target;       /* the edge */
	char reason[REDUCE_REASON_BYTES]; /* why it is not ok, if the fact alone does not tell */
	int format;                       /* of the journal */
};

/* Computes the outcome that a fact has in a journal of that format. Applies a capture to
 * `blackboard` only if it is ok; see reduce_failure for the others. Returns -1 if the fact does not
 * belong to this kind of state. Output that does not conform is an outcome, no error. */
int reduce(const struct state *state, const struct fact *fact, int format, json_t *blackboard,
	struct reduced *out, struct err *e);
/* Binds the failure of a state's last attempt, unless its outcome is ok or exhausted. */
void reduce_failure(const struct state *state, const struct fact *fact,
	const struct reduced *reduced, json_t *blackboard);
/* Checks a poke ({"data": ...} or {"message": ...}) against the form that a wait takes. Tries the
 * capture on a copy of `blackboard`; NULL: only the form is checked. -1: the poke would wake
 * nothing. */
int reduce_poke(
	const struct state *state, const json_t *poke, const json_t *blackboard, struct err *e);
/* Finds the clause that wins: the fact of a branch, which holds nothing. -1: a predicate read an
 * absent field, and the machine halts. */
int reduce_branch(
	const struct state *state, const json_t *blackboard, struct fact *out, struct err *e);
/* Computes the result with which the machine ends in the terminal `state`. New reference; NULL: the
 * end has none. -1: an absent field was read, or the result does not conform, and the machine
 * halts. */
int reduce_returns(
	const struct state *state, const json_t *blackboard, json_t **out, struct err *e);
/* Writes one line for a person about a fact that is not ok: its reason, or else the last line that
 * the command wrote to stderr; "" if there is neither. */
void reduce_words(const struct fact *fact, char out[REDUCE_REASON_BYTES]);
/* Reports whether the machine reads the command's output. */
bool reduce_wants_output(const struct state *state);
/* Reports whether it reads that as JSON. */
bool reduce_wants_json(const struct state *state);
#endif
