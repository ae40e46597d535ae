#include "base/json.h"
#include "git/clone.h"
#include "run/autorun_watch.h"
#include "run/drive_private.h"

enum { CHANGES_BYTES_MAX = 16 * 1024 * 1024 };

void drive_note_autorun(struct drive *drive)
{
	struct err e = ERR_NONE;
	if (drive->noted || drive->workspace.path || !confine_writes(drive->at.state))
		return;
	drive->noted = true;
	if (autorun_note(drive->instance->dir_fd, drive->request->workspace, &e))
		live_notice(&drive->live,
			"which files the run changes that programs on this host run is not known: "
			"%s",
			e.text);
}

/* Returns the autorun files that the machine's commits change, compared with where it began. */
static json_t *on_branch(struct drive *drive)
{
	struct err e = ERR_NONE;
	AUTO_BUF list = BUF_INIT(CHANGES_BYTES_MAX);
	if (workspace_changes(&drive->workspace, &list, &e)) {
		live_notice(
			&drive->live, "which files its commits change is not known: %s", e.text);
		return NULL;
	}
	json_t *changed = autorun_of_commits(&list);
	if (!changed && drive->at.autorun) /* a later commit has restored them */
		changed = json_pack("{s:[],s:i,s:b}", "files", "more", 0, "cut", 0);
	return changed;
}

/* Reports whether the same list is already in the journal, as when a run parks again. */
static bool is_told(const struct drive *drive, const json_t *changed)
{
	return json_equal(
		json_object_get(drive->at.autorun, "files"), json_object_get(changed, "files"));
}

bool drive_tell_autorun(struct drive *drive)
{
	bool clone = drive->workspace.path != NULL;
	json_auto_t *changed =
		clone ? on_branch(drive)
		      : autorun_changed(drive->instance->dir_fd, drive->request->workspace);
	if (changed && !(clone && is_told(drive, changed))) {
		char ts[CLOCK_TEXT_BYTES];
		struct line line = drive_line(drive, LINE_AUTORUN, ts);
		line.autorun =
			(struct line_autorun){.branch = clone ? drive->workspace.branch : NULL,
				.files = json_object_get(changed, "files"),
				.more = json_get_int(changed, "more"),
				.cut = json_is_true(json_object_get(changed, "cut"))};
		if (!drive_commit(drive, &line))
			return false;
	}
	autorun_forget(drive->instance->dir_fd);
	drive->noted = false;
	return true;
}
