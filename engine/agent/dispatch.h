/*
 * The calls of one turn, run in order, each answered: tools from the table, finish_run, refusals.
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
	size_t results_bytes;        /* of one turn, together */
	size_t turn_bytes;           /* what is left of them in this one */
	int64_t deadline_ms;
	struct guard guard;
	struct digest digest;       /* of the calls that ran */
	size_t repairs;             /* finish_run payloads handed back so far */
	enum guard_verdict verdict; /* of the last turn */
	json_t *payload;            /* owned: the accepted result; NULL: not finished */
	bool gave_up;               /* one non-conforming finish_run too many */
	char problems[512];         /* of that, or of arguments in the last turn; "": none */
	char ended[512];            /* why a tool has ended the state; "": none has */
};

/* Fills `results` with one answer per call of `turn`. -1: out of memory. */
int dispatch_turn(
	struct dispatch *dispatch, const struct wire_turn *turn, struct wire_turn *results);
#endif
