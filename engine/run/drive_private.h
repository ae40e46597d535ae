/*
 * One running instance: the part shared by its start and end (drive.c), its steps (drive_loop.c)
 * and its journal lines (drive_commit.c). Private to these three.
 */
#ifndef RUN_DRIVE_PRIVATE_H
#define RUN_DRIVE_PRIVATE_H
#include "base/clock.h"
#include "contract/line.h"
#include "git/elsewhere.h"
#include "instance/position.h"
#include "journal/journal.h"
#include "run/live.h"
#include "run/workspace.h"

struct drive {
	const struct instance *instance;
	const struct drive_request *request;
	struct drive_result *result;
	struct journal journal;
	struct position at;
	struct live live;
	struct plan_env env;
	struct workspace workspace;     /* for a machine that writes code */
	struct git_elsewhere elsewhere; /* for any other machine; allocated in `arena` */
	struct arena arena;
	bool noted;          /* drive_note_autorun was called */
	int64_t snapshot_ms; /* monotonic time of the last snapshot */
	size_t branches;     /* count since the last state of another kind */
};

/* Ends the run with this status and reason. Always returns false, so that `return drive_end(...)`
 * stops the work under way. */
bool drive_end(struct drive *drive, enum run_status status, const char *format, ...) PRINTF(3, 4);
/* Returns a line about the active step, complete but for what its type adds; `ts` holds the
 * time. */
struct line drive_line(const struct drive *drive, enum line_type type, char ts[CLOCK_TEXT_BYTES]);
/* Checks that this run still holds its instance. Returns -1, and abandons the journal, if another
 * run may have begun or written lines would be lost. */
int drive_hold(struct drive *drive, struct err *e);
/* Tries the line on a copy of the position, makes it durable, adopts the copy. Returns false if
 * the run has ended over it. */
bool drive_commit(struct drive *drive, const struct line *line);
/* Does the same, but the line becomes durable only with the next commit. */
bool drive_queue(struct drive *drive, const struct line *line);
/* Writes the snapshot now; a failure is only a notice. */
void drive_snapshot(struct drive *drive);
/* Writes wait.json while a wait is armed, for schedulers that look at files; else removes it. */
void drive_show_wait(struct drive *drive);
/* Notes the workspace's autorun files before the first state that may write there. */
void drive_note_autorun(struct drive *drive);
/* Journals the autorun files changed in the workspace or on the branch, before the run ends or
 * parks. */
bool drive_tell_autorun(struct drive *drive);
/* Books the spending of an attempt that was killed, before anything is spent again or the run
 * ends. */
bool drive_book_unfinished(struct drive *drive);
/* Takes steps until the machine has ended, is stopped, parked or broken. */
void drive_loop(struct drive *drive);
#endif
