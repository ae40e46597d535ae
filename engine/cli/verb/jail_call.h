/*
 * One call of agent6-jail for a verb: takes a policy, returns the status line and the exit status.
 */
#ifndef CLI_VERB_JAIL_CALL_H
#define CLI_VERB_JAIL_CALL_H
#include "base/err.h"
#include "cli/verb/relay.h"
#include "contract/jail_policy.h"
#include "contract/jail_status.h"

/* Runs `order` in a jail of `policy` with these three descriptors as the command's, and carries
 * `relay` (NULL: none) meanwhile. `*status` is the status line, to be released; not given if there
 * was none. Returns the exit status, 128+signal for a signal, or -1 if the launcher could not be
 * started.
 *
 * A signal that would end this process first ends the launcher with all its processes, and then
 * this process. Processes left by a killed launcher are ended too. */
int jail_call(const struct jail_policy *policy, const struct jail_order *order, const int stdio[3],
	struct relay *relay, struct jail_status *status, struct err *e);
#endif
