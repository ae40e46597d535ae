/*
 * Orphans: processes whose parent, a launcher or an agent started by this process, was killed
 * before it could end them; they become children of this process.
 *
 * Only processes started by a jail or an agent are killed. They are recognised by no_new_privs,
 * which cannot be taken back. A daemon started by the operator's own programs does not have it, and
 * goes on.
 */
#ifndef LAUNCH_ORPHANS_H
#define LAUNCH_ORPHANS_H

/* Makes such processes children of this process from now on. Not for a process that may not send
 * them signals. */
void orphans_adopt(void);
/* Kills the jailed ones, with everything that they have started, and waits for their end. Returns
 * how many there were; -1: there may be some that cannot be seen. */
int orphans_end(void);
/* Reaps those that have ended. Do not call it while waiting for a child that child_start has not
 * started. */
void orphans_collect(void);
#endif
