/*
 * The snapshot: where a run stood at a place in its journal. An optimisation only: one that is
 * missing or damaged is ignored. One whose place the journal lacks tells that lines were lost.
 */
#ifndef INSTANCE_SNAPSHOT_H
#define INSTANCE_SNAPSHOT_H
#include "instance/instance.h"
#include "instance/position.h"
#include "journal/journal.h"

int snapshot_write(const struct instance *instance, const struct position *position,
	const struct journal_mark *at, struct err *e);
/* True: *position (to be released) and *at are a place in the journal `journal_fd`. */
bool snapshot_read(const struct instance *instance, const struct machine *machine, int journal_fd,
	struct position *position, struct journal_mark *at);
/* The same of what the run had spent alone, which needs no machine and costs the same whatever lies
 * on the blackboard; false as well where the journal is too short for that to save anything. */
bool snapshot_totals(const struct instance *instance, int journal_fd, struct totals *totals,
	struct journal_mark *at);
/* How many lines the journal had when it was written, where `journal_fd` (-1: there is no journal)
 * does not reach that far any more; 0: it does, or there is no snapshot. */
uint64_t snapshot_missed(const struct instance *instance, int journal_fd);
#endif
