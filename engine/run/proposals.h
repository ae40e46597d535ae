/*
 * Proposals: commands that an agent wants to run. They are recorded first, then a person is asked
 * about those that no setting allows, and the answers go to the agent's request pipe.
 *
 * A proposal is refused if its lines cannot be written to the audit trail.
 */
#ifndef RUN_PROPOSALS_H
#define RUN_PROPOSALS_H
#include "run/ask.h"

struct proposals {
	struct live *live;
	const struct step *step;
	struct asking asking;
	int *to_agent;    /* borrowed: the write end of the agent's request pipe */
	json_t *commands; /* the proposal that waits for its answer; NULL: none */
	json_t *answers;  /* [{run, why}] */
	json_int_t id;
};

void proposals_init(
	struct proposals *proposals, struct live *live, const struct step *step, struct pump *pump);
/* Records that a question stayed open when the agent ended. */
void proposals_done(struct proposals *proposals);
/* Takes a `proposal` event. Returns -1 if the agent breaks the protocol. */
int proposals_take(struct proposals *proposals, const json_t *event, struct err *e);
#endif
