/*
 * Which autorun files (autorun.h) of a workspace change while a run works in it. What they are is
 * noted in the instance before the first state that may write there, and compared when the run
 * stops: two walks through the names of a workspace for each start that does some work, whatever
 * its steps are. A run that was killed leaves its note, and the next one compares with that.
 *
 * Nothing tells a person's editor from the run: whatever changed meanwhile is listed.
 */
#ifndef RUN_AUTORUN_WATCH_H
#define RUN_AUTORUN_WATCH_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Notes what is there now. Where a note is left from a killed run, it stays. */
int autorun_note(int instance_fd, const char *workspace, struct err *e);
/* What has changed since: {"files": [{"path", "change": made|changed|removed, "who", "when"}],
 * "more": those that are too many to be listed, "cut": not everything could be looked at}. NULL:
 * nothing has, or there is no note. New reference. */
json_t *autorun_changed(int instance_fd, const char *workspace);
/* Once that is journaled. */
void autorun_forget(int instance_fd);

/* The same of what git_changes lists. */
json_t *autorun_of_commits(const struct buf *list);
#endif
