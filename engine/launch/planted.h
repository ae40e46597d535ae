/*
 * Repositories that a command made, as the status line of agent6-jail tells of them: each in a
 * sentence for people, which says where it is now and how it comes back.
 */
#ifndef LAUNCH_PLANTED_H
#define LAUNCH_PLANTED_H
#include "base/buf.h"
#include <jansson.h>
#include <stdbool.h>

/* Appends why a command that ended well is not ok; `allowed` says where repositories may be made.
 * False: it made none, and everything could be searched. */
bool planted_reason(const json_t *status, const char *allowed, struct buf *out);
/* Returns of such a line, or of what an agent says of one, only what is of the form and bounded. */
json_t *planted_checked(const json_t *status);
/* Returns the line of a command whose launcher was lost: `status` where it says how, for then its
 * launcher has searched; otherwise one that says that nobody has. The caller's reference. */
json_t *planted_of_lost(const json_t *status);
/* Returns which repository is left in what commands write, so that no other command is to begin;
 * NULL: none is. Places that could not be searched are the next jail's to refuse, if they are there
 * by then. Borrowed. */
const char *planted_stuck(const json_t *status);
/* Appends the command that brings back what was moved from `path` to `to`. */
void planted_restore(const char *path, const char *to, struct buf *out);

/* Where they may be made, for tool states and for an agent's commands. */
#define PLANTED_IN_DATA "$AGENT6_MACHINE_DATA_DIR or /tmp"
#define PLANTED_IN_TMP  "/tmp"
#endif
