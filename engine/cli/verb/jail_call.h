/*
 * One call of agent6-jail for a verb: a policy in, the status line and the exit status out.
 */
#ifndef CLI_VERB_JAIL_CALL_H
#define CLI_VERB_JAIL_CALL_H
#include "base/err.h"
#include "cli/verb/relay.h"
#include <jansson.h>

/* Runs `policy` with these three descriptors as the command's, and carries `relay` (NULL: none)
 * meanwhile. `*status` is the status line (a new reference; NULL when there was none). Returns the
 * exit status, 128+signal for a signal, or -1 when the launcher could not be started.
 *
 * A signal that would end this process ends the launcher first, with all that it runs; then it ends
 * this process. What a launcher leaves that was killed is ended too. */
int jail_call(const json_t *policy, const int stdio[3], struct relay *relay, json_t **status,
	struct err *e);
#endif
