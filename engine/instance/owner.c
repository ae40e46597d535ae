#include "instance/owner.h"

#include "base/io.h"
#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static struct {
	uid_t uid;
	gid_t gid;
} user;

static int number_from(const char *name, unsigned *out)
{
	const char *text = getenv(name);
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;
	*out = (unsigned)n;
	return text && !*end && n > 0 && n < UINT_MAX ? 0 : -1;
}

static int give(int fd)
{
	struct stat st;
	if (fstat(fd, &st))
		return -1;
	return st.st_uid == 0 ? fchownat(fd, "", user.uid, user.gid, AT_EMPTY_PATH) : 0;
}

/* Gives away the directory, and those above it that are root's, if they lie below one of the
 * user's. */
static bool give_chain(int dir_fd)
{
	struct stat st, above;
	AUTO_FD int up = openat(dir_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (up < 0 || fstat(dir_fd, &st) || fstat(up, &above))
		return false;
	bool top = io_is_same(&st, &above);
	return st.st_uid == user.uid || (st.st_uid == 0 && !top && give_chain(up) && !give(dir_fd));
}

static int give_tree(int at, const char *name, int depth);

static int give_entries(int dir_fd, int depth)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int failed = dir ? 0 : -1;
	for (const struct dirent *d; !failed && (d = readdir(dir));)
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			failed = give_tree(fd, d->d_name, depth);
	if (dir)
		closedir(dir);
	else
		own_close(&fd);
	return failed;
}

/* Gives away a tree. Jailed commands have written here, and the user may be writing now, so each
 * file is opened once and changed by its descriptor, without following links. */
static int give_tree(int at, const char *name, int depth)
{
	struct stat st, above;
	AUTO_FD int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (fstat(fd, &st) || fstat(at, &above))
		return -1;
	if (st.st_dev != above.st_dev)
		return 0;
	if (S_ISDIR(st.st_mode) && !depth)
		return errno = ENAMETOOLONG, -1;
	return S_ISDIR(st.st_mode) && give_entries(fd, depth - 1) ? -1 : give(fd);
}

int owner_give_back(int dir_fd, const char *name, struct err *e)
{
	if (geteuid() != 0 || number_from("SUDO_UID", &user.uid) ||
		number_from("SUDO_GID", &user.gid))
		return 0;
	give_chain(dir_fd);
	return give_tree(dir_fd, name, TREE_DEPTH_MAX)
		       ? err_errno(e, "cannot give %s back to user %u", name, user.uid)
		       : 0;
}
