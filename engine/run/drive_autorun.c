#include "git/clone.h"
#include "run/autorun_watch.h"
#include "run/drive_inside.h"

enum { CHANGES_BYTES_MAX = 16 * 1024 * 1024 };

void drive_note_autorun(struct drive *d)
{
	struct err e = ERR_NONE;
	if (d->noted || d->workspace.path || !confine_writes(d->at.state))
		return;
	d->noted = true;
	if (autorun_note(d->instance->dir_fd, d->request->workspace, &e))
		live_notice(&d->live,
			"which files the run changes that programs on this host run is not known: "
			"%s",
			e.text);
}

/* Those that the commits of a machine that writes code have otherwise than where it began. */
static json_t *on_branch(struct drive *d)
{
	struct err e = ERR_NONE;
	AUTO_BUF list = BUF_INIT(CHANGES_BYTES_MAX);
	if (workspace_changes(&d->workspace, &list, &e)) {
		live_notice(&d->live, "which files its commits change is not known: %s", e.text);
		return NULL;
	}
	json_t *changed = autorun_of_commits(&list);
	if (!changed && d->at.autorun) /* they are as they were again */
		changed = json_pack("{s:[],s:i,s:b}", "files", "more", 0, "cut", 0);
	if (changed)
		json_object_set_new(changed, "branch", json_string(d->workspace.branch));
	return changed;
}

/* A run that parks again has its commits told already. */
static bool is_told(const struct drive *d, const json_t *changed)
{
	return json_equal(
		json_object_get(d->at.autorun, "files"), json_object_get(changed, "files"));
}

bool drive_tell_autorun(struct drive *d)
{
	bool clone = d->workspace.path != NULL;
	json_auto_t *changed =
		clone ? on_branch(d) : autorun_changed(d->instance->dir_fd, d->request->workspace);
	if (changed && !(clone && is_told(d, changed))) {
		json_t *event = drive_event(d, "autorun");
		json_object_update(event, changed);
		if (!drive_commit(d, event))
			return false;
	}
	autorun_forget(d->instance->dir_fd);
	d->noted = false;
	return true;
}
