/*
 * One running instance: what its start and end (drive.c), its steps (drive_loop.c) and its way into
 * the journal (drive_commit.c) share. Private to the three.
 */
#ifndef RUN_DRIVE_PRIVATE_H
#define RUN_DRIVE_PRIVATE_H
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
	struct workspace workspace;     /* of a machine that writes code */
	struct git_elsewhere elsewhere; /* of any other; in `arena` */
	struct arena arena;
	bool noted;          /* drive_note_autorun has been called */
	int64_t snapshot_ms; /* monotonic, of the last one */
	size_t branches;     /* taken since the last state of another kind */
};

/* Ends the run with this status and reason; always false, so that `return drive_end(...)` stops
 * whatever is under way. */
bool drive_end(struct drive *drive, enum run_status status, const char *format, ...) PRINTF(3, 4);
/* {t, ts, seq, state} of a line about the active step. */
json_t *drive_event(const struct drive *drive, const char *type);
/* -1: another run may have begun, or what is written go nowhere; then the journal is abandoned. */
int drive_hold(struct drive *drive, struct err *e);
/* Tries the event on a copy of the position, makes it durable, adopts the copy. Takes `event`. */
bool drive_commit(struct drive *drive, json_t *event);
/* The same for a line that rides with the next commit. */
bool drive_queue(struct drive *drive, json_t *event);
/* Writes the snapshot now; a failure is only a notice. */
void drive_snapshot(struct drive *drive);
/* Writes wait.json, for schedulers that look at files, or removes it: as the journal has it. */
void drive_show_wait(struct drive *drive);
/* Notes what the autorun files of the workspace are, before the first state that may write there.
 */
void drive_note_autorun(struct drive *drive);
/* Journals which of them, or of those on the branch, were changed, before the run ends or parks. */
bool drive_tell_autorun(struct drive *drive);
/* Takes steps until the machine has ended, is stopped, parked or broken. */
void drive_loop(struct drive *drive);
#endif
