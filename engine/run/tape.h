/*
 * A cassette that is being recorded (run --record): what models answered, and what somebody poked
 * waits with, so that the run can be rehearsed (docs/rehearsing.md).
 */
#ifndef RUN_TAPE_H
#define RUN_TAPE_H
#include "run/live.h"

/* Both are nothing where nothing is recorded; what cannot be written is told as a notice. */

/* A line {"state", "match", "reply"}, which its agent has cleaned of secrets. */
void tape_exchange(const struct live *w, const char *state, const json_t *line);
/* The payload that woke a wait. A person typed it: secrets leave it in a process of its own, which
 * the keys end with. */
void tape_poke(const struct live *w, const char *state, const json_t *payload);
#endif
