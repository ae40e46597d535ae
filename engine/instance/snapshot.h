/*
 * The snapshot: the position of a run at a place in its journal. It is only an optimisation: a
 * missing or damaged snapshot is ignored. If the journal lacks its place, lines have been lost.
 */
#ifndef INSTANCE_SNAPSHOT_H
#define INSTANCE_SNAPSHOT_H
#include "instance/instance.h"
#include "instance/position.h"
#include "journal/journal.h"

int snapshot_write(const struct instance *instance, const struct position *position,
	const struct journal_mark *at, struct err *e);
/* Reads the snapshot. True: *position (which the caller releases) and *at are a place in the
 * journal `journal_fd`. */
bool snapshot_read(const struct instance *instance, const struct machine *machine, int journal_fd,
	struct position *position, struct journal_mark *at);
/* Reads only the totals. This needs no machine, and its cost does not depend on the blackboard.
 * Returns false also if the journal is too short for this to save anything. */
bool snapshot_totals(const struct instance *instance, int journal_fd, struct totals *totals,
	struct journal_mark *at);
/* Returns how many lines the journal had when the snapshot was written, if `journal_fd` (-1: there
 * is no journal) is shorter now; 0: it is not, or there is no snapshot. */
uint64_t snapshot_missed(const struct instance *instance, int journal_fd);
#endif
