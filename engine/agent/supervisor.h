/*
 * Questions to the supervisor: an event out, one line back on descriptor 0.
 */
#ifndef AGENT_SUPERVISOR_H
#define AGENT_SUPERVISOR_H
#include "contract/event.h"
#include <jansson.h>
#include <stdint.h>

/* Emits `event` with `members` (taken) and a fresh number as `id`, and waits for the line
 * with the same number. NULL: the supervisor has gone, the time (`deadline_ms`, monotonic) is over,
 * or the answer is not understood. New reference. */
json_t *supervisor_ask(enum agent_event event, json_t *members, int64_t deadline_ms);
#endif
