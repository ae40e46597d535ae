#include "git/hooks.h"

#include "base/io.h"
#include "base/tree.h"
#include "git/call.h"
#include "git/settings.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HOOK_FILES_MAX = 4096, HOOK_BYTES_MAX = 32 * 1024 * 1024, MESSAGE_BYTES_MAX = 64 * 1024 };

static const char copy_name[] = "agent6-hooks", message_name[] = "COMMIT_EDITMSG";

/* The place of hooks: a directory that is copied for the hook, and below it that of the hooks (""
 * is the same). */
struct hook_place {
	char top[PATH_MAX], below[PATH_MAX];
};

/* Returns the part of `path` after `dir` and a slash; NULL: it is not inside. */
static const char *part_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);
	if (strncmp(path, dir, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len + 1 : "";
}

/* Finds the place of hooks. If they lie in the work tree, the first component is copied whole: the
 * hooks in .husky/_ call files one level above. */
static int place_of(
	const struct git_repo *from, const char *real, struct hook_place *out, struct err *e)
{
	const char *below = part_below(real, from->common_dir);
	*out->below = '\0';
	snprintf(out->top, sizeof(out->top), "%s", real);
	if (below)
		return 0;
	below = part_below(real, from->work_tree);
	if (!below || !*below)
		return err_set(e,
			"core.hooksPath leads to %s, which is no directory inside of %s; the "
			"hooks there are not run, so nothing is committed",
			real, from->work_tree);
	size_t first = strcspn(below, "/");
	out->top[(size_t)(below - real) + first] = '\0';
	snprintf(out->below, sizeof(out->below), "%s", below + first);
	return 0;
}

/* Finds the hooks. 0: `out` is filled; 1: the repository has none. */
static int find_hooks(const struct git_repo *from, struct hook_place *out, struct err *e)
{
	struct err why = ERR_NONE;
	char path[2 * PATH_MAX], real[PATH_MAX];
	AUTO_FREE char *set = git_setting(from, "core.hookspath", &why);
	if (*why.text)
		return err_set(e, "%s", why.text);
	if (!set)
		snprintf(path, sizeof(path), "%s/hooks", from->common_dir);
	else
		snprintf(path, sizeof(path), "%s%s%s", *set == '/' ? "" : from->work_tree,
			*set == '/' ? "" : "/", set);
	if (realpath(path, real))
		return place_of(from, real, out, e);
	return errno == ENOENT && !set ? 1 : err_errno(e, "core.hooksPath leads to %s", path);
}

/* Copies the hooks into the clone's .git: a jail executes no files from elsewhere. */
static int copy_hooks(const char *top, int git_dir, struct err *e)
{
	struct tree_cap cap = {HOOK_FILES_MAX, HOOK_BYTES_MAX};
	if (tree_remove(git_dir, copy_name, e))
		return -1;
	if (mkdirat(git_dir, copy_name, 0700))
		return err_errno(e, "cannot create %s", copy_name);
	AUTO_FD int from = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int to =
		openat(git_dir, copy_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (from < 0 || to < 0)
		return err_errno(e, "cannot open %s", from < 0 ? top : copy_name);
	return tree_copy(from, to, &cap, e);
}

struct run {
	const struct git_repo *from, *clone;
	const struct git_identity *as;
	const struct hook_place *at;
	int git_dir;
};

/* Replaces a copied link by the file that the operator's link leads to: the copy would lead into
 * the clone. */
static int replace_link(const struct run *run, const char *copy, const char *name, struct err *e)
{
	char link[3 * PATH_MAX], real[PATH_MAX];
	AUTO_FREE char *text = NULL;
	size_t len;
	snprintf(link, sizeof(link), "%s%s/%s", run->at->top, run->at->below, name);
	if (!realpath(link, real))
		return err_errno(e, "%s", link);
	if (!part_below(real, run->from->common_dir) && !part_below(real, run->from->work_tree))
		return err_set(e, "the hook %s leads to %s, outside of the repository", link, real);
	if (io_read_file(AT_FDCWD, real, HOOK_BYTES_MAX, &text, &len, e))
		return -1;
	if (unlinkat(run->git_dir, copy, 0))
		return err_errno(e, "%s", copy);
	return io_create_file(run->git_dir, copy, text, len, access(real, X_OK) ? 0644 : 0755, e);
}

static int run_hook(const struct run *run, const char *name, const char *const *args, struct err *e)
{
	char copy[2 * PATH_MAX], path[3 * PATH_MAX];
	struct stat st;
	AUTO_BUF out = BUF_INIT(GIT_OUTPUT_MAX);
	snprintf(copy, sizeof(copy), "%s%s/%s", copy_name, run->at->below, name);
	snprintf(path, sizeof(path), "%s/%s", run->clone->git_dir, copy);
	if (fstatat(run->git_dir, copy, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : err_errno(e, "%s", path);
	if (S_ISLNK(st.st_mode) && replace_link(run, copy, name, e))
		return -1;
	/* Git ignores a hook that is no executable file. */
	if (fstatat(run->git_dir, copy, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		!(st.st_mode & S_IXUSR))
		return 0;
	struct git_call call = {.hook = path, .args = args, .as = run->as, .write = true};
	return git_call(run->clone, &call, &out, e);
}

static int run_message_hooks(const struct run *run, struct buf *message, struct err *e)
{
	char path[PATH_MAX];
	AUTO_FREE char *text = NULL;
	size_t len;
	snprintf(path, sizeof(path), "%s/%s", run->clone->git_dir, message_name);
	if (io_replace_file(run->git_dir, message_name, message->data, message->len, 0644, e) ||
		run_hook(run, "prepare-commit-msg", GIT_ARGS(path, "message"), e) ||
		run_hook(run, "commit-msg", GIT_ARGS(path), e) ||
		io_read_plain(run->git_dir, message_name, MESSAGE_BYTES_MAX, &text, &len, e))
		return -1;
	if (strlen(text) != len || strspn(text, " \t\r\n") == len)
		return err_set(e, "the hooks left no message for the commit");
	buf_clear(message);
	return buf_add(message, text, len) ? err_set(e, "the hooks left too long a message") : 0;
}

int git_hooks_run(const struct git_repo *from, const struct git_repo *clone,
	const struct git_identity *as, struct buf *message, struct err *e)
{
	static const char *const none[] = {NULL};
	struct hook_place at;
	int found = find_hooks(from, &at, e);
	if (found)
		return found < 0 ? -1 : 0;
	AUTO_FD int git_dir = git_dir_open(clone->git_dir, ".");
	if (git_dir < 0)
		return err_errno(e, "cannot open %s", clone->git_dir);
	struct run r = {from, clone, as, &at, git_dir};
	int failed = copy_hooks(at.top, git_dir, e) || run_hook(&r, "pre-commit", none, e) ||
		     run_message_hooks(&r, message, e);
	tree_remove(git_dir, copy_name, NULL);
	return failed ? -1 : 0;
}
