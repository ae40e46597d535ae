#include "bundle/bundle.h"

#include "base/io.h"
#include "base/tree.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Up to this number each file is synced by itself, which does not wait for other processes'
 * writes. */
enum { SYNCED_ALONE_MAX = 64 };

/* Opens the directory of `path`, and makes missing ones; `*base` is the last component. */
static int open_parent(int root, const char *path, const char **base, struct err *e)
{
	AUTO_FD int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	const char *slash;
	while (at >= 0 && (slash = strchr(path, '/'))) {
		char name[256];
		snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
		if (mkdirat(at, name, 0700) && errno != EEXIST)
			return err_errno(e, "cannot create the directory %s", name);
		int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		own_close(&at);
		at = next;
		path = slash + 1;
	}
	if (at < 0)
		return err_errno(e, "cannot open the directory of %s", path);
	*base = path;
	return TAKE_FD(at);
}

static int install_member(const struct bundle *bundle, const struct member *member, int root,
	bool alone, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	const char *base = member->path;
	if (bundle_read(bundle, member->path, &text, &len, e))
		return -1;
	AUTO_FD int dir = open_parent(root, member->path, &base, e);
	if (dir < 0)
		return -1;
	AUTO_FD int fd =
		openat(dir, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(e, "cannot create %s", member->path);
	if (io_write(fd, text, len) || fchmod(fd, member->mode & 0555) || (alone && fsync(fd)))
		return err_errno(e, "cannot write %s", member->path);
	return 0;
}

/* Gives the directory and everything below it their mode, and with `alone` syncs them, deepest
 * first. Their owner can still remove them: only files are read-only. */
static int seal(int dir, bool alone, struct err *e)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	int failed = 0;
	if (!list) {
		own_close(&fd);
		return err_errno(e, "cannot list the bundle's copy");
	}
	for (struct dirent *d; !failed && (d = readdir(list));) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		AUTO_FD int sub =
			openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			failed = seal(sub, alone, e);
	}
	closedir(list);
	if (failed)
		return -1;
	return fchmod(dir, 0755) || (alone && fsync(dir))
		       ? err_errno(e, "cannot seal the bundle's copy")
		       : 0;
}

static int fill(const struct bundle *bundle, int root, struct err *e)
{
	bool alone = bundle->count <= SYNCED_ALONE_MAX;
	for (size_t i = 0; i < bundle->count; i++)
		if (install_member(bundle, &bundle->members[i], root, alone, e))
			return -1;
	if (seal(root, alone, e))
		return -1;
	return alone || !syncfs(root) ? 0 : err_errno(e, "cannot sync the bundle's copy");
}

int bundle_install(const struct bundle *bundle, int dir_fd, const char *name, struct err *e)
{
	char temp[300];
	if (snprintf(temp, sizeof(temp), ".%s.tmp", name) >= (int)sizeof(temp))
		return err_set(e, "the name %s is too long", name);
	if (tree_remove(dir_fd, temp, e))
		return -1;
	if (mkdirat(dir_fd, temp, 0700))
		return err_errno(e, "cannot create %s", temp);
	AUTO_FD int root = openat(dir_fd, temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return err_errno(e, "cannot open %s", temp);
	int failed = fill(bundle, root, e);
	/* Renaming a directory replaces no file and no directory that holds something; NFS and most
	 * of FUSE do not have RENAME_NOREPLACE. */
	if (!failed && renameat(dir_fd, temp, dir_fd, name))
		failed = err_errno(e, "cannot put the bundle's copy at %s", name);
	if (!failed && fsync(dir_fd))
		failed = err_errno(e, "cannot sync the directory of %s", name);
	if (failed)
		tree_remove(dir_fd, temp, NULL);
	return failed ? -1 : 0;
}
