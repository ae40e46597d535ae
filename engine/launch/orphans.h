/*
 * Processes that outlive the child of this one that started them, and become its own children: what
 * a launcher or an agent leaves when it is killed and could not see to its commands itself.
 *
 * Only what a jail or an agent has started is ended: it has no new privileges, for good, whatever
 * it does. A daemon of the operator's own programs has not given them up, and goes on.
 */
#ifndef LAUNCH_ORPHANS_H
#define LAUNCH_ORPHANS_H

/* From now on they become this process's children. Not for one that may not send them signals. */
void orphans_adopt(void);
/* Kills those that are jailed, with all that they have started, and waits for their end. Returns
 * how many there were, or -1: there may be some that cannot be seen. */
int orphans_end(void);
/* Collects those that have ended. Not while a child is waited for that child_start has not started.
 */
void orphans_collect(void);
#endif
