/*
 * Dispatch: runs the calls of one turn in order and answers each: tools from the table, finish_run,
 * refusals.
 */
#ifndef AGENT_DISPATCH_H
#define AGENT_DISPATCH_H
#include "agent/digest.h"
#include "agent/guard.h"
#include "agent/tools/tool.h"
#include "provider/wire.h"

struct dispatch {
	const struct tool_context *tools;
	const struct record *record; /* of finish_run; NULL: any object */
	unsigned mode;               /* TOOL_IN_AGENT or TOOL_IN_RUN */
	size_t max_calls;            /* per turn */
	size_t results_bytes;        /* bytes for all results of one turn */
	size_t turn_bytes;           /* bytes left in the current turn */
	int64_t deadline_ms;
	struct guard guard;
	struct digest digest;       /* of the calls that ran */
	size_t repairs;             /* number of finish_run payloads returned for repair so far */
	enum guard_verdict verdict; /* of the last turn */
	json_t *payload;            /* owned: the accepted result; NULL: not finished */
	bool gave_up;               /* the model has used up its repairs */
	/* The problems of the last payload, or of arguments in the last turn; "": none. */
	char problems[512];
	char ended[512]; /* why a tool has ended the state; "": it has not */
};

/* Fills `results` with one answer per call of `turn`. Returns -1 if memory runs out. */
int dispatch_turn(
	struct dispatch *dispatch, const struct wire_turn *turn, struct wire_turn *results);
#endif
