/*
 * The operator's machine.notify.on_event program. It runs on the host, is never taken from a
 * bundle, and gets each notify and end as one JSON line on its stdin: the event with its instance
 * and machine. If it fails, a notice says so and the run goes on.
 */
#ifndef RUN_HOOK_H
#define RUN_HOOK_H
#include "run/live.h"

/* Runs the program. Does nothing when none is configured. */
void hook_run(struct live *live, const struct line *line);
/* Returns the path of a program to run on the host for the operator: `name`, looked up in PATH.
 * Removes the directories that commands may write from PATH first. Heap; NULL: there is no such
 * program. */
char *hook_program(const struct config *config, const char *name);
#endif
