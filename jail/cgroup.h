/*
 * A control group of the jail's own, where the caller may make one: the only bound on the memory
 * and the processes of all of it together.
 *
 * Attack: a hundred processes that each stay below their own limit; memory that no limit of a
 * process counts (shared, in files of /tmp). Without a group the per-process limits remain, and the
 * report says so.
 */
#ifndef JAIL_CGROUP_H
#define JAIL_CGROUP_H
#include "jail/jail.h"

/* A step: makes the group. None is not an error: layers.memory then says "rlimit". */
step_fn cgroup_prepare;
/* Moves `pid` into those groups that it was not started in. */
int cgroup_enter(const struct jail *j, pid_t pid, struct err *e);
/* Removes it again; everything in it has ended. */
void cgroup_leave(struct jail *j);
#endif
