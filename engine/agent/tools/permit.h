/*
 * Permission for commands: each proposed argv is judged here; the supervisor records it and asks a
 * person if needed. It runs only if the answer says so.
 *
 * The commands of one turn are one proposal (unless approval.default is step). An answer is valid
 * for its own argv, once.
 */
#ifndef TOOLS_PERMIT_H
#define TOOLS_PERMIT_H
#include "agent/tools/tool.h"

enum { PERMIT_ARGC_MAX = 1024 };

struct permits {
	json_t *waiting; /* answers not used yet: [{argv, run, why, level, reasons}]; NULL: none */
};

/* Reports whether `argv` can be judged: a list of 1 to PERMIT_ARGC_MAX strings, the first of which
 * is not empty. */
bool permit_is_argv(const json_t *argv);
/* Proposes several commands at once. Their answers wait for permit_take. */
void permit_batch(const struct tool_context *context, json_t *argvs);
/* Returns true if `argv` may run; false with the reason in `out`. */
bool permit_take(const struct tool_context *context, const json_t *argv, struct buf *out);
/* Forgets unused answers: none outlives its turn. */
void permit_forget(struct permits *permits);
#endif
