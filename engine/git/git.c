#include "git/git.h"

#include "base/beneath.h"
#include "base/io.h"
#include "git/call.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

/* Joins a path from a file of git's: absolute, or relative to the directory `from`. */
static void follow(char joined[2 * PATH_MAX], const char *from, const char *path)
{
	bool absolute = path[0] == '/';
	snprintf(joined, 2 * PATH_MAX, "%s%s%s", absolute ? "" : from, absolute ? "" : "/", path);
}

/* Reads a gitfile (worktrees, submodules), which is one line: "gitdir: PATH". */
static int read_gitfile(const char *work_tree, char **git_dir, struct err *e)
{
	char real[PATH_MAX], joined[2 * PATH_MAX];
	AUTO_FREE char *text = NULL;
	size_t len;
	AUTO_FD int dir = open(work_tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, "cannot open %s", work_tree);
	if (io_read_plain(dir, ".git", PATH_MAX, &text, &len, e))
		return err_wrap(e, "%s", work_tree);
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		text[--len] = '\0';
	if (strncmp(text, "gitdir: ", 8))
		return err_set(e, "%s/.git is not a git repository", work_tree);
	follow(joined, work_tree, text + 8);
	if (!realpath(joined, real))
		return err_errno(e, "%s/.git leads to %s", work_tree, joined);
	/* Whoever made this tree may have named a repository that does not belong to it. */
	if (!strcmp(strrchr(real, '/'), "/.git"))
		return err_set(e,
			"%s/.git is a file that leads to %s, the repository of another directory; "
			"work there, or remove that file",
			work_tree, real);
	*git_dir = strdup(real);
	return *git_dir ? 0 : err_set(e, "out of memory");
}

/* Checks a linked work tree. git keeps these in the repository that they belong to, and notes there
 * the directory of each. Without this check somebody else's repository could pass for this
 * one's. */
static int check_linked(const struct git_repo *git_repo, int dir, struct err *e)
{
	char own[PATH_MAX + 8], real[PATH_MAX], joined[2 * PATH_MAX];
	AUTO_FREE char *text = NULL;
	size_t len = strlen(git_repo->common_dir), got;
	bool inside = !strncmp(git_repo->git_dir, git_repo->common_dir, len) &&
		      !strncmp(git_repo->git_dir + len, "/worktrees/", 11);
	if (!inside)
		return err_set(e,
			"%s/commondir leads to %s, which it is no linked work tree of; remove that "
			"file",
			git_repo->git_dir, git_repo->common_dir);
	if (io_read_plain(dir, "gitdir", PATH_MAX, &text, &got, e))
		return err_wrap(e, "%s", git_repo->git_dir);
	text[strcspn(text, "\n")] = '\0';
	follow(joined, git_repo->git_dir, text);
	snprintf(own, sizeof(own), "%s/.git", git_repo->work_tree);
	if (realpath(joined, real) && !strcmp(real, own))
		return 0;
	return err_set(e,
		"%s is the linked work tree %.300s of %s, and not %s; if that was moved, run `git "
		"worktree repair` there",
		git_repo->git_dir, text, git_repo->common_dir, git_repo->work_tree);
}

/* Reads the repository's directory from a linked work tree's, to which it is relative. */
static int read_commondir(struct git_repo *git_repo, struct err *e)
{
	char real[PATH_MAX], joined[2 * PATH_MAX];
	AUTO_FREE char *text = NULL;
	size_t len;
	AUTO_FD int dir = open(git_repo->git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, "cannot open %s", git_repo->git_dir);
	if (faccessat(dir, "commondir", F_OK, AT_SYMLINK_NOFOLLOW)) {
		git_repo->common_dir = strdup(git_repo->git_dir);
		return 0;
	}
	if (io_read_plain(dir, "commondir", PATH_MAX, &text, &len, e))
		return err_wrap(e, "%s", git_repo->git_dir);
	text[strcspn(text, "\n")] = '\0';
	follow(joined, git_repo->git_dir, text);
	if (!realpath(joined, real))
		return err_errno(e, "%s/commondir leads to %s", git_repo->git_dir, joined);
	git_repo->common_dir = strdup(real);
	if (!git_repo->common_dir)
		return err_set(e, "out of memory");
	return check_linked(git_repo, dir, e);
}

static int describe(
	const char *work_tree, const struct stat *st, struct git_repo *out, struct err *e)
{
	struct git_repo found = {0};
	int failed = 0;
	if (S_ISREG(st->st_mode))
		failed = read_gitfile(work_tree, &found.git_dir, e);
	else if (!S_ISDIR(st->st_mode))
		failed = err_set(e, "%s/.git is neither a directory nor a file", work_tree);
	else if (asprintf(&found.git_dir, "%s/.git", strcmp(work_tree, "/") ? work_tree : "") < 0)
		found.git_dir = NULL;
	if (failed)
		return -1;
	found.work_tree = strdup(work_tree);
	if (found.git_dir && found.work_tree && read_commondir(&found, e)) {
		git_repo_done(&found);
		return -1;
	}
	if (found.common_dir && found.work_tree) {
		*out = found;
		return 0;
	}
	git_repo_done(&found);
	return err_set(e, "out of memory");
}

bool git_marks(const char *dot_git)
{
	struct stat st;
	if (lstat(dot_git, &st))
		return false;
	DIR *dir = S_ISDIR(st.st_mode) ? opendir(dot_git) : NULL;
	bool empty = dir != NULL;
	for (const struct dirent *d; empty && (d = readdir(dir));)
		empty = !strcmp(d->d_name, ".") || !strcmp(d->d_name, "..");
	if (dir)
		closedir(dir);
	errno = 0;
	return !empty;
}

int git_find(const char *path, struct git_repo *out, struct err *e)
{
	char at[PATH_MAX], probe[PATH_MAX + 8];
	struct stat st;
	snprintf(at, sizeof(at), "%s", path);
	*out = (struct git_repo){0};
	for (;;) {
		snprintf(probe, sizeof(probe), "%s/.git", strcmp(at, "/") ? at : "");
		if (git_marks(probe) && !lstat(probe, &st))
			return describe(at, &st, out, e);
		if (errno && errno != ENOENT && errno != ENOTDIR)
			return err_errno(e, "cannot examine %s", probe);
		if (!strcmp(at, "/"))
			return 0;
		char *slash = strrchr(at, '/');
		slash[slash == at] = '\0';
	}
}

int git_dir_open(const char *git_dir, const char *below)
{
	AUTO_FD int top = open(git_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return top < 0 ? -1
		       : beneath_open(top, below, O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
}

void git_dir_unlink(const char *git_dir, const char *below, const char *name)
{
	AUTO_FD int dir = git_dir_open(git_dir, below);
	if (dir >= 0)
		unlinkat(dir, name, 0);
}

/* Reports whether the repository has a pack that git fetched from a place that still has the
 * rest. */
static bool is_partial(const struct git_repo *git_repo)
{
	int fd = git_dir_open(git_repo->common_dir, "objects/pack");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool found = false;
	for (const struct dirent *d; dir && !found && (d = readdir(dir));)
		found = strstr(d->d_name, ".promisor") != NULL;
	if (dir)
		closedir(dir);
	else
		own_close(&fd);
	return found;
}

int git_explain(const struct git_repo *git_repo, struct err *e)
{
	AUTO_FD int objects = git_dir_open(git_repo->common_dir, "objects");
	if (objects >= 0 && !faccessat(objects, "info/alternates", F_OK, AT_SYMLINK_NOFOLLOW))
		return err_wrap(e,
			"%s borrows objects from another repository (objects/info/alternates), "
			"which git in a jail cannot follow; run `git repack -a -d` there and "
			"remove that file",
			git_repo->work_tree);
	if (is_partial(git_repo))
		return err_wrap(e,
			"%s is a partial clone, and nothing is fetched for it here; run `git "
			"fetch --refetch --no-filter` there",
			git_repo->work_tree);
	return -1;
}

enum { KNOWN = 2 }; /* indexed by git_call's no_tree */

static void forget_names(struct git_repo *git_repo)
{
	for (size_t i = 0; git_repo->names && i < KNOWN; i++)
		buf_done(&git_repo->names[i]);
	free(TAKE_PTR(git_repo->names));
}

int git_learn(struct git_repo *git_repo, struct err *e)
{
	forget_names(git_repo);
	git_repo->names = calloc(KNOWN, sizeof(*git_repo->names));
	return git_repo->names ? 0 : err_set(e, "out of memory");
}

void git_repo_done(struct git_repo *git_repo)
{
	free(git_repo->git_dir);
	free(git_repo->work_tree);
	free(git_repo->common_dir);
	free(git_repo->borrowed);
	buf_done(&git_repo->filters);
	forget_names(git_repo);
	json_decref(git_repo->submodules);
	json_decref(git_repo->untouched);
	*git_repo = (struct git_repo){0};
}

int git_status(const struct git_repo *git_repo, const char *const *paths, size_t count,
	struct buf *out, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("status", "--porcelain=v1", "-z", "--untracked-files=all",
			"--ignored=traditional", "--ignore-submodules=all", "--no-renames"),
		.paths = paths,
		.path_count = count};
	return git_call(git_repo, &call, out, e);
}

int git_tracked(const struct git_repo *git_repo, const char *const *paths, size_t count,
	struct buf *out, struct err *e)
{
	struct git_call call = {
		.args = GIT_ARGS("ls-files", "-z", "-v"), .paths = paths, .path_count = count};
	return git_call(git_repo, &call, out, e);
}
