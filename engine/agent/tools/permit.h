/*
 * Permission for commands: each proposed argv is judged here, recorded and, where needed, asked
 * about by the supervisor, and runs only when the answer says so.
 *
 * The commands of one turn are one proposal (but for approval.default: step). An answer holds for
 * its own argv, once.
 */
#ifndef TOOLS_PERMIT_H
#define TOOLS_PERMIT_H
#include "agent/tools/tool.h"

enum { PERMIT_ARGC_MAX = 1024 };

struct permits {
	json_t *waiting; /* answers not used yet: [{argv, run, why, level, reasons}]; NULL: none */
};

/* Whether `argv` is one that can be judged at all: a list of 1 to PERMIT_ARGC_MAX strings, the
 * first of which is not empty. */
bool permit_is_argv(const json_t *argv);
/* Proposes several at once. Their answers wait for permit_take. */
void permit_batch(const struct tool_context *context, json_t *argvs);
/* True: `argv` may run. False with the reason in `out`. */
bool permit_take(const struct tool_context *context, const json_t *argv, struct buf *out);
/* Forgets what was not used: no answer outlives its turn. */
void permit_forget(struct permits *permits);
#endif
