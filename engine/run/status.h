/*
 * The status of instances, for people and scripts: read from their journals, whoever runs them.
 */
#ifndef RUN_STATUS_H
#define RUN_STATUS_H
#include "instance/instance.h"
#include "machine/machine.h"

/* Returns the status that `machine status` shows. The instance may be running or not. Branches that
 * its journal has not recorded yet are taken first. New reference: {id, machine, status, state,
 * kind, seq, attempt, reason, wake, holder, totals, blackboard, started, updated, pokes, bundle,
 * profile, question, failure, branch, cut_off, stopping, directory, says, retry_at, notice,
 * autorun}.
 * branch: null or {name, base, tip}.
 * cut_off: nothing asked it to stop; it was killed, or could not go on.
 * stopping: somebody has asked it to stop, and its state has not ended yet.
 * says: the text of the wait that it is in, for whoever is to poke it.
 * retry_at: when the state that has failed begins again.
 * notice: what its agent said last about the current turn.
 * autorun: null, or {files, more, cut} from the journal's lines of that name. */
json_t *status_run(const struct instance *instance, const struct machine *machine, struct err *e);

/* Calls `each` for every instance of a workspace in name order, with a short status from its last
 * journal line: {id, asks, status, state, seq, reason, updated, totals, bundle}. The status is
 * "damaged" if the line cannot be read. The totals of a run that has neither ended nor waits are
 * those of its newest snapshot plus later lines; bundle is the digest of the bundle it runs. `each`
 * borrows the status, to which it may add members, and the directory of the instances. */
typedef void status_each_fn(void *ctx, int machines, json_t *status);
int status_each(const struct statedir *statedir, status_each_fn *each, void *ctx, struct err *e);
#endif
