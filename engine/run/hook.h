/*
 * The operator's machine.notify.on_event program: host side, never from a bundle, told of each
 * notify and end by one JSON line on its stdin, the event with its instance and machine. Its
 * failure is reported and changes nothing.
 */
#ifndef RUN_HOOK_H
#define RUN_HOOK_H
#include "run/live.h"

/* Nothing is done when no program is configured. */
void hook_run(struct live *live, const json_t *event);
/* The path of a program that is run on the host for the operator, heap: `name`, found in PATH
 * without what commands may write, which is taken out of it. NULL: there is none that can be run.
 */
char *hook_program(const struct config *config, const char *name);
#endif
