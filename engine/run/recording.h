/*
 * The recording of a cassette (run --record): the replies of models and the payloads of pokes, so
 * that the run can be rehearsed (docs/rehearsing.md).
 */
#ifndef RUN_RECORDING_H
#define RUN_RECORDING_H
#include "run/live.h"

enum { TAPE_BYTES_MAX = 64 * 1024 * 1024 };

/* Writes a line {"state", "match", "reply"}. The agent has removed secrets from it. */
void recording_exchange(struct buf *lines, const char *state, const json_t *exchange);

/* The next two do nothing if nothing is recorded. An error becomes a notice. */

/* Appends the exchanges of an execution that has ended: all or none. A killed execution runs again,
 * and exchanges that are recorded twice cannot be rehearsed: so a note in the execution's
 * directory, `dir_fd`, says which ones it wrote, and the next execution of the same attempt
 * replaces them. */
void recording_keep(
	const struct live *live, const struct step *step, int dir_fd, const struct buf *lines);
/* Appends the payload that woke a wait. A person typed it, so secrets are removed from it, in a
 * child process that holds the keys and then ends. */
void recording_poke(const struct live *live, const char *state, const json_t *payload);
#endif
