/*
 * Repositories that a command made, from the status line of agent6-jail: each as a sentence for
 * people, with its present place and the way to restore it.
 */
#ifndef LAUNCH_PLANTED_H
#define LAUNCH_PLANTED_H
#include "base/buf.h"
#include "contract/jail_status.h"

/* Appends why a command that ended well is not ok; `allowed` names the places where repositories
 * may be made. Returns false if it made none and every place could be searched. */
bool planted_reason(const struct jail_status *status, const char *allowed, struct buf *out);
/* Returns the well-formed, bounded part of such a line, or of an agent's report of one, as such a
 * report. New reference. */
json_t *planted_checked(const struct jail_status *status);
/* Returns the line for a command whose launcher was lost: `status`, if it has a reason, because
 * then its launcher has searched; otherwise one that says that nobody has. To be released. */
struct jail_status planted_of_lost(const struct jail_status *status);
/* Returns the repository that is left where commands write, so that no other command may begin;
 * NULL: none is. Places that could not be searched are left to the next jail, which refuses them if
 * they still exist. Borrowed. */
const char *planted_stuck(const struct jail_status *status);
/* Appends the command that restores `path`, which was moved to `to`. */
void planted_restore(const char *path, const char *to, struct buf *out);

/* The places where they may be made, for tool states and for an agent's commands. */
#define PLANTED_IN_DATA "$AGENT6_MACHINE_DATA_DIR or /tmp"
#define PLANTED_IN_TMP  "/tmp"
#endif
