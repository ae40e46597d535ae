/*
 * Questions to the supervisor: an event out, one line back on descriptor 0.
 */
#ifndef AGENT_SUPERVISOR_H
#define AGENT_SUPERVISOR_H
#include <jansson.h>
#include <stdint.h>

/* Emits the event `name` with `members` (taken) and a number of its own as `id`, and waits for the
 * line that carries the same one. NULL: the supervisor has gone, time ran out (monotonic
 * `deadline_ms`), or what it said is not understood. New reference. */
json_t *supervisor_ask(const char *name, json_t *members, int64_t deadline_ms);
#endif
