/*
 * How instances stand, for people and scripts: read from their journals, whoever runs them.
 */
#ifndef RUN_STATUS_H
#define RUN_STATUS_H
#include "instance/instance.h"
#include "machine/machine.h"

/* Status as `machine status` shows it, of a live or a resting instance; branches that its journal
 * is behind with are taken. New reference: {id,
 * machine, status, state, kind, seq, attempt, reason, wake, holder, totals, blackboard, started,
 * updated, pokes, bundle, profile, question, failure, branch, cut_off, stopping, directory, says,
 * retry_at, notice, autorun};
 * branch is null or {name, base, tip}, cut_off says that nothing asked it to stop: it was killed,
 * or could not go on; stopping, that somebody asked and its state has not ended yet; says is what
 * the wait that it waits in tells whoever is to poke it; retry_at, when the state that has failed
 * begins again; notice, what its agent said last of the turn that goes on; autorun, null or
 * {files, more, cut} of the journal's lines of that name.
 */
json_t *status_run(const struct instance *instance, const struct machine *machine, struct err *e);

/* The same in brief for every instance of a workspace, in name order, from its last journal line:
 * {id, asks, status, state, seq, reason, updated, totals, bundle}; status "damaged" when that
 * cannot be read. The totals of what neither has ended nor waits are the newest snapshot's and what
 * later lines add; bundle is the digest of what it runs. `each` borrows the status, to which it may
 * add, and the directory that the instances lie in. */
typedef void status_each_fn(void *ctx, int machines, json_t *status);
int status_each(const struct statedir *statedir, status_each_fn *each, void *ctx, struct err *e);
#endif
