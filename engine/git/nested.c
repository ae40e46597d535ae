#include "git/nested.h"

#include "base/beneath.h"
#include "base/vcs.h"
#include "base/vcs_dir.h"
#include <fcntl.h>
#include <jansson.h>
#include <linux/openat2.h>
#include <string.h>

#define WHERE_TO                                                                                   \
	"; make repositories in $AGENT6_MACHINE_DATA_DIR or /tmp, where nobody stands by accident"

struct roots {
	int clone, checkout; /* -1: there is none */
	json_t *seen;        /* paths of directories known to be no repository */
};

static unsigned parts_below(int root_fd, const char *dir)
{
	AUTO_FD int fd = root_fd < 0 ? -1
				     : beneath_open(root_fd, dir, O_PATH | O_DIRECTORY, 0,
					       RESOLVE_NO_SYMLINKS);
	return fd < 0 ? 0 : vcs_dir_parts(fd);
}

static int check_directory(struct roots *roots, const char *dir, const char *path, struct err *e)
{
	if (json_object_get(roots->seen, dir))
		return 0;
	unsigned parts = parts_below(roots->clone, dir) | parts_below(roots->checkout, dir);
	if (vcs_is_git_dir(parts))
		return err_set(e,
			"%.300s is changed, and %.300s is a git directory then (HEAD with objects "
			"and refs, or with commondir): git run there executes what its config "
			"names" WHERE_TO,
			path, !strcmp(dir, ".") ? "the top of the work tree" : dir);
	json_object_set_new_nocheck(roots->seen, dir, json_true());
	return 0;
}

static int check_path(struct roots *roots, const char *path, struct err *e)
{
	char dir[PATH_MAX];
	if (vcs_in_path(path))
		return err_set(e,
			"%.300s is changed, which belongs to a repository inside the work tree: "
			"tools run there execute what it names" WHERE_TO,
			path);
	if (check_directory(roots, ".", path, e))
		return -1;
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		if (snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path) >= PATH_MAX)
			return err_set(e, "%.300s is too long a path", path);
		if (check_directory(roots, dir, path, e))
			return -1;
	}
	return 0;
}

int nested_check(const struct buf *paths, const char *clone, const char *checkout, struct err *e)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	AUTO_FD int clone_fd = open(clone, flags);
	AUTO_FD int checkout_fd = open(checkout, flags);
	json_auto_t *seen = json_object();
	struct roots roots = {clone_fd, checkout_fd, seen};
	if (clone_fd < 0)
		return err_errno(e, "cannot open %s", clone);
	for (size_t at = 0; at < paths->len; at += strlen(paths->data + at) + 1)
		if (check_path(&roots, paths->data + at, e))
			return -1;
	return 0;
}
