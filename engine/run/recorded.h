/*
 * Recorded steps: facts of a rehearsal in place of executions.
 *
 * A state that has recorded facts is never executed, so nothing has to be granted for it. Its facts
 * are reduced like real ones.
 */
#ifndef RUN_RECORDED_H
#define RUN_RECORDED_H
#include "run/plan.h"

struct recorded {
	/* Reports whether facts are recorded for a state. */
	bool (*has)(const void *ctx, const struct state *state);
	/* Fills `fact` (to be released) with the next one for a planned step. Returns -1 with the
	 * reason if the step does not match it, or none is left: that is no outcome of the state.
	 */
	int (*take)(void *ctx, const struct step *step, struct fact *fact, struct err *why);
	void *ctx;
};
#endif
