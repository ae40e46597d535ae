/*
 * What an agent wants to run: recorded before anything else, asked about where nobody has allowed
 * it, answered on the agent's request pipe.
 *
 * A proposal whose lines cannot be written into the audit trail is refused.
 */
#ifndef RUN_PROPOSALS_H
#define RUN_PROPOSALS_H
#include "run/ask.h"

struct proposals {
	struct live *live;
	const struct step *step;
	struct asking asking;
	int *to_agent;    /* borrowed: the write end of its request pipe */
	json_t *commands; /* of the proposal that waits for its answer; NULL: none */
	json_t *answers;  /* [{run, why}] */
	json_int_t id;
};

void proposals_init(
	struct proposals *proposals, struct live *live, const struct step *step, struct pump *pump);
/* Records a question that the agent's end has left without an answer. */
void proposals_done(struct proposals *proposals);
/* Takes a `proposal` event. -1: the agent breaks the protocol. */
int proposals_take(struct proposals *proposals, const json_t *event, struct err *e);
#endif
