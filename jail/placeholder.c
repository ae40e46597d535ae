/*
 * An empty `.git` in a workspace that has none, while a command runs.
 *
 * Attack: a command makes WORKSPACE/.git, with settings that the user's next git, prompt or editor
 * executes on the host. A missing name cannot be protected; an empty directory can, and git does
 * not take it for a repository. All jails in the workspace share it: each locks it, and the last
 * one removes it. If all of them were killed it stays, until the next jail there has ended.
 */
#include "base/vcs.h"
#include "jail/jail.h"
#include <dirent.h>
#include <limits.h>
#include <sys/file.h>

enum { TRIES = 100 };

static bool is_empty(int dir_fd)
{
	char block[512];
	ssize_t len = syscall(SYS_getdents64, dir_fd, block, sizeof(block)), at = 0;
	while (at < len) {
		const struct dirent *entry = (const void *)(block + at);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return false;
		at += entry->d_reclen;
	}
	return len >= 0;
}

/* Reports whether a directory is closed to the command: it is if this caller may not write it,
 * unless the caller owns it and could change its mode. */
static bool is_shut(int workspace_fd)
{
	struct stat st;
	return errno == EROFS ||
	       (errno == EACCES && !fstat(workspace_fd, &st) && st.st_uid != geteuid());
}

/* Reports whether the locked directory is still the one with this name. */
static bool is_current(int fd, int workspace_fd)
{
	struct stat own, named;
	return !fstat(fd, &own) && !fstatat(workspace_fd, ".git", &named, AT_SYMLINK_NOFOLLOW) &&
	       own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

/* Makes and locks the directory. Returns 1 if another jail, the last one, has removed it
 * meanwhile. */
static int lock(struct jail *jail, int workspace_fd, struct err *e)
{
	struct stat st;
	bool made = !mkdirat(workspace_fd, ".git", 0755);
	if (!made && errno != EEXIST)
		return is_shut(workspace_fd) ? 0 : err_errno(e, "cannot keep the place of .git");
	AUTO_FD int fd =
		openat(workspace_fd, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT; /* else it is a file or a link, or unreadable */
	if (!is_empty(fd))
		return 0;
	if (made && !fstat(workspace_fd, &st) && fchown(fd, st.st_uid, st.st_gid) && !geteuid())
		return err_errno(e, "cannot give .git to the workspace's owner");
	if (flock(fd, LOCK_SH))
		return err_errno(e, "cannot lock .git");
	if (!is_current(fd, workspace_fd))
		return 1;
	jail->placeholder_fd = TAKE_FD(fd);
	return 0;
}

int placeholder_hold(struct jail *jail, struct err *e)
{
	const struct policy *p = &jail->policy;
	if (p->access != ACCESS_WRITE || policy_frees(p, p->workspace) || !LAYER_ON("placeholder"))
		return 0;
	AUTO_FD int fd = open(p->workspace, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0; /* its fault is reported where it is mounted */
	int is_git_dir = scan_is_git_dir(fd);
	if (is_git_dir)
		return is_git_dir < 0 ? err_errno(e, "cannot examine %s", p->workspace) : 0;
	int again = 1;
	for (int tries = 0; again > 0 && tries < TRIES; tries++)
		again = lock(jail, fd, e);
	return again > 0 ? err_set(e, "%s/.git comes and goes", p->workspace) : again;
}

void placeholder_leave(struct jail *jail)
{
	if (jail->placeholder_fd < 0)
		return;
	AUTO_FD int fd = open(jail->policy.workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!flock(jail->placeholder_fd, LOCK_EX | LOCK_NB) && is_current(jail->placeholder_fd, fd))
		unlinkat(fd, ".git", AT_REMOVEDIR); /* fails if somebody has put files there */
	own_close(&jail->placeholder_fd);
}
