#include "base/tree.h"
#include "instance/instance.h"
#include "instance/recover.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define REMOVED ".removed"

static int check_ended(const struct instance *instance, struct err *e)
{
	struct err why = ERR_NONE;
	AUTO_FD int fd = instance_journal(instance, &why);
	AUTO_LINE last;
	bool any = recover_last(fd, &last, &why) && *last.type_text;
	if (!any && *why.text && why.number != ENOENT)
		return err_set(e, "instance %s: %s", instance->id, why.text);
	if (!any)
		return recover_whole(instance, fd, 0, e);
	return last.type == LINE_END ? 0
				     : err_set(e,
					       "instance %s has not ended, and could go on; "
					       "--unfinished removes it",
					       instance->id);
}

bool instance_ended(const struct instance *instance)
{
	struct err e = ERR_NONE;
	return !check_ended(instance, &e);
}

static int open_machines(const struct statedir *statedir, struct err *e)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/machines", statedir->repo);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, "cannot open %s", path) : fd;
}

/* Renames it first, so that nobody finds half of it; a name with a dot is no instance. */
int instance_discard(const struct statedir *statedir, struct instance *instance, struct err *e)
{
	char gone[128];
	snprintf(gone, sizeof(gone), ".%s" REMOVED, instance->id);
	AUTO_FD int machines = open_machines(statedir, e);
	if (machines < 0)
		return -1;
	if (tree_remove(machines, gone, e) || renameat(machines, instance->id, machines, gone))
		return err_errno(e, "cannot remove instance %s", instance->id);
	/* Nobody finds it any more. Close the lock, because NFS and FUSE keep the directory of an
	 * open file. */
	own_close(&instance->lock_fd);
	return tree_remove(machines, gone, e)
		       ? err_wrap(e,
				 "instance %s is removed, but some of its files are still there "
				 "until the next `agent6 machine prune`",
				 instance->id)
		       : 0;
}

static int is_rest(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), end = strlen(REMOVED);
	return entry->d_name[0] == '.' && len > end && !strcmp(entry->d_name + len - end, REMOVED);
}

int instance_sweep(const struct statedir *statedir, struct err *e)
{
	struct dirent **entries = NULL;
	struct err why = ERR_NONE;
	AUTO_FD int machines = open_machines(statedir, &why);
	if (machines < 0)
		return why.number == ENOENT ? 0 : err_set(e, "%s", why.text);
	int n = scandirat(machines, ".", &entries, is_rest, NULL), failed = 0;
	if (n < 0)
		return err_errno(e, "cannot list %s/machines", statedir->repo);
	for (int at = 0; at < n; at++) {
		failed = tree_remove(machines, entries[at]->d_name, e) ? -1 : failed;
		free(entries[at]);
	}
	free(entries);
	return failed;
}

int instance_remove(const struct statedir *statedir, const char *id, bool unfinished, struct err *e)
{
	struct instance i = INSTANCE_NONE;
	if (instance_open(statedir, id, &i, e))
		return -1;
	instance_done(&i);
	if (instance_lock(statedir, id, &i, e))
		return -1;
	int failed = unfinished ? 0 : check_ended(&i, e);
	if (!failed)
		failed = instance_discard(statedir, &i, e);
	instance_done(&i);
	return failed;
}
