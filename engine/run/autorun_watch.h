/*
 * Watches which autorun files (autorun.h) of a workspace change while a run works in it. Their
 * state is noted in the instance before the first state that may write there, and compared when the
 * run stops: two walks through the workspace per start, however many steps it has. A killed run
 * leaves its note, and the next run compares with that.
 *
 * A change by a person's editor cannot be told from one by the run: every change is listed.
 */
#ifndef RUN_AUTORUN_WATCH_H
#define RUN_AUTORUN_WATCH_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Notes the autorun files as they are now. A note left by a killed run is kept instead. */
int autorun_note(int instance_fd, const char *workspace, struct err *e);
/* Returns the changes since the note: {"files": [{"path", "change": made|changed|removed, "who",
 * "when"}], "more": how many did not fit into the list, "cut": true if some files could not be
 * looked at}. NULL: nothing has changed, or there is no note. New reference. */
json_t *autorun_changed(int instance_fd, const char *workspace);
/* Removes the note, once the changes are journaled. */
void autorun_forget(int instance_fd);

/* Returns the same for a list of git_changes. */
json_t *autorun_of_commits(const struct buf *list);
#endif
