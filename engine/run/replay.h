/*
 * Replay: a run rebuilt and checked from its journal alone, without clock, process or network.
 */
#ifndef RUN_REPLAY_H
#define RUN_REPLAY_H
#include "run/drive.h"

struct replay_request {
	const struct machine *machine;
	bool foreign; /* not the one that was run: the first step that goes elsewhere is the error
		       */
	uint64_t to_seq; /* stop behind this step; 0: in front of the first; UINT64_MAX: never */
	/* May be NULL: every line in order, with the blackboard behind it. */
	void (*line)(void *ctx, const json_t *fields, const json_t *blackboard);
	void *ctx;
};

/* Divergence is an error that names the step. *blackboard: a new reference, the last one. */
int replay_run(const struct instance *instance, const struct replay_request *request,
	struct drive_result *out, json_t **blackboard, struct err *e);
/* Checks the chain of every line, and that none is missing. Damage: -1 with the line number in the
 * message. */
int replay_verify(const struct instance *instance, uint64_t *lines, struct err *e);
#endif
