/*
 * Replay: rebuilds a run from its journal alone and checks it, without clock, process or network.
 */
#ifndef RUN_REPLAY_H
#define RUN_REPLAY_H
#include "run/drive.h"

struct replay_request {
	const struct machine *machine;
	/* not the machine that was run: the first step that goes elsewhere is the error */
	bool foreign;
	uint64_t to_seq; /* stop after this step; 0: before the first; UINT64_MAX: never */
	/* Called for every line in order, with the blackboard after it. May be NULL. */
	void (*line)(void *ctx, const struct line *line, const json_t *blackboard);
	void *ctx;
};

/* Rebuilds the run. A divergence is an error that names the step. *blackboard: the last one, a new
 * reference. */
int replay_run(const struct instance *instance, const struct replay_request *request,
	struct drive_result *out, json_t **blackboard, struct err *e);
/* Checks the chain of all lines and that none is missing. Returns -1 with the line number in the
 * message if the journal is damaged. */
int replay_verify(const struct instance *instance, uint64_t *lines, struct err *e);
#endif
