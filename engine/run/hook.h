/*
 * The operator's machine.notify.on_event program: host side, never from a bundle, told of each
 * notify and end by one JSON line on its stdin, the event with its instance and machine. Its
 * failure is reported and changes nothing.
 */
#ifndef RUN_HOOK_H
#define RUN_HOOK_H
#include "run/live.h"

/* Nothing is done when no program is configured. */
void hook_run(struct live *w, const json_t *event);
/* Whether there is a program for hook_run to run, or none is set. Leaves in PATH only what it would
 * be looked for in. */
bool hook_is_there(const struct config *c);
#endif
