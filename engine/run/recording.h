/*
 * A cassette that is being recorded (run --record): what models answered, and what somebody poked
 * waits with, so that the run can be rehearsed (docs/rehearsing.md).
 */
#ifndef RUN_RECORDING_H
#define RUN_RECORDING_H
#include "run/live.h"

enum { TAPE_BYTES_MAX = 64 * 1024 * 1024 };

/* Writes a line {"state", "match", "reply"}, which its agent has cleaned of secrets. */
void recording_exchange(struct buf *lines, const char *state, const json_t *exchange);

/* Both are nothing where nothing is recorded; what cannot be written is told as a notice. */

/* The exchanges of an execution that has ended: all or none. Those of one that was killed come
 * again, and a cassette that has them twice does not rehearse: a note in the execution's directory,
 * `dir_fd`, says which they are, so that the next execution of the same attempt replaces them. */
void recording_keep(
	const struct live *live, const struct step *step, int dir_fd, const struct buf *lines);
/* The payload that woke a wait. A person typed it: secrets leave it in a process of its own, which
 * the keys end with. */
void recording_poke(const struct live *live, const char *state, const json_t *payload);
#endif
