/*
 * Per-execution directories `states/<seq>-<state>/`: captured output, the agent's transcript and
 * the running count of what it has spent. For people, and nothing a branch reads, so nothing here
 * is synced but that count: what was spent before a power cut counts against the budget behind it.
 */
#ifndef INSTANCE_STATES_H
#define INSTANCE_STATES_H
#include "instance/instance.h"
#include "instance/position.h"

/* Creates the directory and removes the oldest beyond `keep`. A descriptor, -1 on failure. */
int states_open(const struct instance *instance, const char *dir, int64_t keep, struct err *e);
/* Writes `name` (for attempt N > 1: `name.N`); nothing when there are no bytes. */
int states_write(int dir_fd, const char *name, int attempt, const void *bytes, size_t len);

/* What execution number `execution` has spent so far, durably. NULL: makes room for the note, which
 * keeps it however full the disk is by then. */
int states_note_spend(int dir_fd, int execution, const struct spend *spend, struct err *e);
/* The same as a spend line's members, if that execution left a note. NULL: it did not. */
json_t *states_read_spend(const struct instance *instance, const char *dir, int execution);
#endif
