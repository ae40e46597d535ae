/*
 * Per-execution directories `states/<seq>-<state>/`: captured output, the agent's transcript and
 * its running spending. They are for people; no branch reads them. Only the spending is synced, so
 * that it counts against the budget after a power cut.
 */
#ifndef INSTANCE_STATES_H
#define INSTANCE_STATES_H
#include "instance/instance.h"
#include "instance/position.h"

/* Creates the directory and removes the oldest ones beyond `keep`. Returns a descriptor, -1 on
 * failure. */
int states_open(const struct instance *instance, const char *dir, int64_t keep, struct err *e);
/* Writes `name` (for attempt N > 1: `name.N`). Does nothing if there are no bytes. */
int states_write(int dir_fd, const char *name, int attempt, const void *bytes, size_t len);

/* Notes durably what execution number `execution` has spent so far. `spend` NULL: reserves the
 * space for the note, so that it can be written even if the disk fills up. */
int states_note_spend(int dir_fd, int execution, const struct spend *spend, struct err *e);
/* Reads the note of that execution. Returns -1 if it left none. */
int states_read_spend(
	const struct instance *instance, const char *dir, int execution, struct spend *out);
#endif
