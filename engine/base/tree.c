#include "base/tree.h"

#include "base/io.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

static void own_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR __attribute__((cleanup(own_closedir))) DIR

/* Opens a directory stream of its own; `fd` stays open. */
static DIR *list(int fd, struct err *e)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		err_errno(e, "cannot list a directory");
		own_close(&copy);
	}
	return dir;
}

/* Returns the next name that is neither "." nor "..". */
static const char *next_name(DIR *dir)
{
	const struct dirent *d;
	do
		d = readdir(dir);
	while (d && (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..")));
	return d ? d->d_name : NULL;
}

static int open_directory(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Gives the owner `mode`, by a descriptor: the name may lead elsewhere by then. */
static int permit(int at, const char *name, int flags, mode_t mode)
{
	char own[32];
	struct stat st;
	AUTO_FD int found = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", found);
	if (found < 0 || fstat(found, &st))
		return -1;
	return (st.st_mode & mode) == mode ? 0 : chmod(own, (st.st_mode & 0777) | mode);
}

/* Does the same for a directory that its owner may not read. */
static int open_up(int at, const char *name)
{
	int fd = open_directory(at, name);
	if (fd >= 0 || errno != EACCES)
		return fd;
	return permit(at, name, O_DIRECTORY, 0700) ? -1 : open_directory(at, name);
}

struct removal {
	int top_fd;     /* -1: not opened yet; never owned */
	unsigned moved; /* number of names given there */
};

/* Moves a deep directory up to the top first, so that no depth can prevent its removal. */
static int move_up(struct removal *removal, int at, const char *name, struct err *e)
{
	char up[32];
	AUTO_FD int sub = open_up(at, name);
	if (sub < 0 || (fchmod(sub, 0700) && errno != EPERM))
		return errno == ENOENT ? 0 : err_errno(e, "cannot remove %s", name);
	do
		snprintf(up, sizeof(up), ".removed-%u", removal->moved++);
	while (syscall(SYS_renameat2, at, name, removal->top_fd, up, RENAME_NOREPLACE) &&
		errno == EEXIST);
	return faccessat(removal->top_fd, up, F_OK, AT_SYMLINK_NOFOLLOW)
		       ? err_errno(e, "cannot remove %s", name)
		       : 0;
}

static int remove_directory(
	struct removal *removal, int at, const char *name, int depth, struct err *e);

/* Removes a file. 0: it is gone; 1: it is a directory. */
static int remove_plain(int at, const char *name, struct err *e)
{
	if (!unlinkat(at, name, 0) || errno == ENOENT)
		return 0;
	return errno == EISDIR ? 1 : err_errno(e, "cannot remove %s", name);
}

static int empty(struct removal *removal, int fd, int depth, struct err *e)
{
	if (fchmod(fd, 0700) && errno != EPERM)
		return err_errno(e, "cannot open up a directory");
	AUTO_DIR *dir = list(fd, e);
	const char *name;
	if (!dir)
		return -1;
	while ((name = next_name(dir))) {
		int left = remove_plain(fd, name, e);
		if (left > 0)
			left = depth ? remove_directory(removal, fd, name, depth - 1, e)
				     : move_up(removal, fd, name, e);
		if (left)
			return -1;
	}
	return 0;
}

enum { PATIENCE = 2000 /* ms */ };

/* Removes a directory, again and again until it stays empty: names that were moved up may appear
 * after the listing, and so may files of a killed process that is still writing. Gives up after
 * PATIENCE, since some file systems (FUSE) rename a file that is removed while it is open, each
 * time anew. */
static int remove_directory(
	struct removal *removal, int at, const char *name, int depth, struct err *e)
{
	AUTO_FD int fd = open_up(at, name);
	int failed = fd < 0;
	if (removal->top_fd < 0)
		removal->top_fd = fd;
	for (int waited = 0; !failed; waited++) {
		unsigned moved = removal->moved;
		if (waited)
			nanosleep(&(struct timespec){0, 1000000}, NULL);
		if (empty(removal, fd, depth, e))
			return -1;
		if (!unlinkat(at, name, AT_REMOVEDIR))
			return 0;
		failed = errno != ENOTEMPTY || waited == PATIENCE;
		waited = moved == removal->moved ? waited : 0;
	}
	return errno == ENOENT ? 0 : err_errno(e, "cannot remove %s", name);
}

int tree_remove(int dir_fd, const char *name, struct err *e)
{
	struct removal r = {.top_fd = -1};
	int left = remove_plain(dir_fd, name, e);
	return left > 0 ? remove_directory(&r, dir_fd, name, TREE_DEPTH_MAX, e) : left;
}

/* --- permissions ------------------------------------------------------------------------------ */

static int open_up_below(int fd, const char *except, int depth, struct err *e)
{
	AUTO_DIR *dir = list(fd, e);
	const char *name;
	struct stat st;
	if (!dir)
		return -1;
	while ((name = next_name(dir))) {
		if (!strcmp(name, except) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		bool below = S_ISDIR(st.st_mode);
		if ((below || S_ISREG(st.st_mode)) &&
			permit(fd, name, below ? O_DIRECTORY : 0, below ? 0700 : 0400))
			return err_errno(e, "cannot open up %s", name);
		AUTO_FD int sub = below && depth ? open_directory(fd, name) : -1;
		if (sub >= 0 && open_up_below(sub, "", depth - 1, e))
			return -1;
	}
	return 0;
}

int tree_open_up(int dir_fd, struct err *e)
{
	return open_up_below(dir_fd, ".git", TREE_DEPTH_MAX, e);
}

/* --- copy ------------------------------------------------------------------------------------- */

/* The limits of a copy. */
struct copying {
	struct tree_cap *left; /* what it may still take */
	struct tree_cap most;  /* what it could take at first */
	int depth;             /* the depth that is left */
	bool crossed;          /* a limit was crossed */
};

static int cross(struct copying *copying, struct err *e)
{
	copying->crossed = true;
	return err_set(e, "at most %ju files and directories are copied, and %ju MiB",
		(uintmax_t)copying->most.files, (uintmax_t)(copying->most.bytes >> 20));
}

static int take_bytes(struct copying *copying, uint64_t bytes, struct err *e)
{
	if (bytes > copying->left->bytes)
		return cross(copying, e);
	copying->left->bytes -= bytes;
	return 0;
}

static int copy_file(int from, int to, const char *name, struct copying *copying, struct err *e)
{
	struct stat st;
	char chunk[65536];
	AUTO_FD int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in < 0 || fstat(in, &st))
		return err_errno(e, "cannot read %s", name);
	AUTO_FD int out =
		openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
	if (out < 0)
		return err_errno(e, "cannot create %s", name);
	for (;;) {
		ssize_t n = read(in, chunk, sizeof(chunk));
		if (n < 0 && errno != EINTR)
			return err_errno(e, "cannot read %s", name);
		if (!n)
			return 0;
		if (n > 0 && take_bytes(copying, (uint64_t)n, e))
			return -1;
		if (n > 0 && io_write(out, chunk, (size_t)n))
			return err_errno(e, "cannot write %s", name);
	}
}

static int copy_link(int from, int to, const char *name, struct err *e)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(from, name, target, sizeof(target) - 1);
	if (len < 0)
		return err_errno(e, "cannot read the link %s", name);
	target[len] = '\0';
	return symlinkat(target, to, name) ? err_errno(e, "cannot create the link %s", name) : 0;
}

static int copy_level(int from, int to, struct copying *copying, struct err *e);

static int copy_directory(
	int from, int to, const char *name, struct copying *copying, struct err *e)
{
	AUTO_FD int in = open_directory(from, name);
	if (in < 0 || !copying->depth || (to >= 0 && mkdirat(to, name, 0755)))
		return err_errno(e, "cannot copy the directory %s", name);
	AUTO_FD int out = to < 0 ? -1 : open_directory(to, name);
	if (to >= 0 && out < 0)
		return err_errno(e, "cannot copy the directory %s", name);
	copying->depth--;
	int failed = copy_level(in, out, copying, e);
	copying->depth++;
	return failed && !copying->crossed ? err_wrap(e, "%s", name) : failed;
}

static int copy_level(int from, int to, struct copying *copying, struct err *e)
{
	AUTO_DIR *dir = list(from, e);
	const char *name;
	struct stat st;
	int failed = dir ? 0 : -1;
	while (!failed && (name = next_name(dir))) {
		if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
			return err_errno(e, "cannot examine %s", name);
		if (copying->depth == TREE_DEPTH_MAX && !strcmp(name, ".git"))
			continue;
		if (!copying->left->files--)
			return cross(copying, e);
		if (S_ISDIR(st.st_mode))
			failed = copy_directory(from, to, name, copying, e);
		else if (S_ISREG(st.st_mode))
			failed = to < 0 ? take_bytes(copying, (uint64_t)st.st_size, e)
					: copy_file(from, to, name, copying, e);
		else if (S_ISLNK(st.st_mode) && to >= 0)
			failed = copy_link(from, to, name, e);
	}
	return failed;
}

/* Counts first: too large a tree is refused before any of it is written. */
int tree_copy(int from, int to, struct tree_cap *cap, struct err *e)
{
	struct tree_cap counted = *cap;
	struct copying count = {.left = &counted, .most = *cap, .depth = TREE_DEPTH_MAX};
	struct copying copy = {.left = cap, .most = *cap, .depth = TREE_DEPTH_MAX};
	return copy_level(from, -1, &count, e) ? -1 : copy_level(from, to, &copy, e);
}

/* --- move ------------------------------------------------------------------------------------- */

static int copy_any(int from, const char *name, mode_t mode, int to, struct err *e)
{
	struct tree_cap left = {TREE_MOVE_FILES, TREE_MOVE_BYTES}, counted = left;
	struct copying count = {.left = &counted, .most = left, .depth = TREE_DEPTH_MAX};
	struct copying copy = {.left = &left, .most = left, .depth = TREE_DEPTH_MAX};
	if (S_ISLNK(mode))
		return copy_link(from, to, name, e);
	if (S_ISREG(mode))
		return permit(from, name, 0, 0400) ? err_errno(e, "cannot read %s", name)
						   : copy_file(from, to, name, &copy, e);
	if (!S_ISDIR(mode))
		return 0;
	AUTO_FD int dir = open_up(from, name);
	if (dir < 0)
		return err_errno(e, "cannot open %s", name);
	if (open_up_below(dir, "", TREE_DEPTH_MAX, e))
		return -1;
	return copy_directory(from, -1, name, &count, e) ? -1
							 : copy_directory(from, to, name, &copy, e);
}

/* Renames. A directory that moves has to be writable itself, and so has the one that it leaves. */
static int rename_up(int from, const char *name, int to)
{
	struct stat above;
	if (!renameat(from, name, to, name))
		return 0;
	if (errno != EACCES || fstat(from, &above))
		return -1;
	permit(from, name, O_DIRECTORY, 0700);
	if (permit(from, ".", O_DIRECTORY, 0300))
		return -1;
	int failed = renameat(from, name, to, name), why = errno;
	failed |= fchmodat(from, ".", above.st_mode & 07777, 0);
	errno = why;
	return failed;
}

int tree_move(int from, const char *name, int to, struct err *e)
{
	struct stat st;
	if (!rename_up(from, name, to))
		return 0;
	if (errno != EXDEV || fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return err_errno(e, "cannot move %s", name);
	if (!copy_any(from, name, st.st_mode, to, e))
		return tree_remove(from, name, e);
	tree_remove(to, name, NULL);
	return -1;
}
