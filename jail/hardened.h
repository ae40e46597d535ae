/*
 * The hardened profile: no namespaces. Landlock is the wall around files, seccomp around the rest,
 * and a subreaper sweep makes sure that nothing outlives the command.
 */
#ifndef JAIL_HARDENED_H
#define JAIL_HARDENED_H
#include "jail/jail.h"
#include <sys/resource.h>

step_fn hardened_prepare; /* launcher: the private directory, become the subreaper */
step_fn hardened_start;   /* launcher: forks the command's process; returns in the launcher only */
step_fn hardened_become;  /* command: leaves root */

/* Kills and reaps every descendant, daemonised ones too, adding to `used`. */
int hardened_sweep(struct rusage *used, struct err *e);
/* Removes the private directory. */
void hardened_clean(struct jail *j);
#endif
