/*
 * The launcher's side: waits for the jail to end, kills it on time-out, and says what happened.
 */
#ifndef JAIL_SUPERVISE_H
#define JAIL_SUPERVISE_H
#include "jail/jail.h"
#include <stdint.h>
#include <sys/resource.h>

struct outcome {
	bool timed_out;
	int64_t wall_ms;
	struct rusage used; /* by everything that ran in the jail */
};

/* Waits for the jail's end, at most policy.timeout_secs: as jail_wait. */
int supervise_wait(struct jail *j, struct outcome *out, struct err *e);
/* From now on this is waited for, too: the hang-up of `life_fd` ends a jail as its time-out does,
 * and is an error. */
void supervise_within(int life_fd);
/* Collects j->child, if it still is to be collected. Its wait(2) status. */
int supervise_collect(struct jail *j, struct rusage *used);
/* The exit status that says it: the command's, 128+signal, 124, 125, 126 or 127. */
int supervise_exit(const struct jail *j, const struct outcome *out);
/* One JSON line to `status_fd` (-1: nobody asked) and, when the set-up failed, one line to stderr.
 */
int supervise_tell(const struct jail *j, const struct outcome *out, int status_fd);
#endif
