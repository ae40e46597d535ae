#include "bundle/bundle.h"

#include "git/git.h"
#include <ctype.h>
#include <limits.h>
#include <string.h>

enum { PATHS_MAX = 64, LISTED_MAX = 5, STATUS_BYTES_MAX = 16 * 1024 * 1024 };

/* The paths to ask git about, relative to a work tree: the member folders as a whole, so that
 * deleted files count too, and the files beside them. */
struct asked {
	struct arena arena;
	const char *paths[PATHS_MAX];
	size_t count;
};

static void ask(struct asked *asked, const char *prefix, const char *name)
{
	char path[2 * PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "/" : "", name);
	if (asked->count < PATHS_MAX)
		asked->paths[asked->count++] = arena_copy(&asked->arena, path, (size_t)len);
}

/* Returns the bundle's path in a work tree. */
static const char *prefix_in(const struct bundle *bundle, const char *work_tree)
{
	const char *prefix = bundle->root + strlen(work_tree);
	return prefix + (*prefix == '/');
}

static void ask_bundle(struct asked *asked, const struct bundle *bundle, const char *work_tree)
{
	const char *prefix = prefix_in(bundle, work_tree);
	asked->count = 0;
	for (size_t i = 0; i < BUNDLE_FOLDERS; i++)
		ask(asked, prefix, bundle_folders[i]);
	for (size_t i = 0; i < bundle->count; i++)
		if (!strchr(bundle->members[i].source, '/'))
			ask(asked, prefix, bundle->members[i].source);
}

/* Returns the member at `path`, as git names it; NULL: it is none. */
static const struct member *member_at(
	const struct bundle *bundle, const char *prefix, const char *path)
{
	size_t len = strlen(prefix);
	path += len + (len > 0);
	for (size_t i = 0; i < bundle->count; i++)
		if (!strcmp(bundle->members[i].source, path))
			return &bundle->members[i];
	return NULL;
}

/* Reports whether a changed file has line ends that git's core.autocrlf makes. */
static bool has_crlf(const struct bundle *bundle, const char *prefix, const struct buf *status)
{
	bool found = false;
	for (size_t at = 0; at < status->len && !found; at += strlen(status->data + at) + 1) {
		const char *entry = status->data + at;
		const struct member *m =
			entry[1] == 'M' ? member_at(bundle, prefix, entry + 3) : NULL;
		AUTO_FREE char *text = NULL;
		size_t len;
		found = m && !bundle_read(bundle, m->path, &text, &len, NULL) &&
			strstr(text, "\r\n");
	}
	return found;
}

/* Refuses changes. Entries of `status -z` are "XY PATH"; we add "hh". */
static int refuse_changes(const struct buf *status, bool crlf, struct err *e)
{
	char listed[700] = "";
	size_t used = 0, count = 0;
	for (size_t at = 0; at < status->len; at += strlen(status->data + at) + 1) {
		const char *entry = status->data + at;
		if (strlen(entry) > 3 && count++ < LISTED_MAX && used < sizeof(listed))
			used += (size_t)snprintf(listed + used, sizeof(listed) - used,
				"%s%.120s (%s)", used ? ", " : "", entry + 3,
				entry[0] == '?'   ? "not tracked"
				: entry[0] == '!' ? "ignored by git"
				: entry[0] == 'h' ? "hidden from git status"
						  : "changed");
	}
	return err_set(e,
		"the bundle holds files that are not committed: %s%s; commit them, so that what "
		"runs is what was reviewed, or pass --allow-uncommitted%s",
		listed, count > LISTED_MAX ? ", and more" : "",
		crlf ? ". If only their line ends (CR LF) differ, because core.autocrlf is set in "
		       "your own git configuration, which is not read here: set it in the "
		       "repository, `git config core.autocrlf true`"
		     : "");
}

/* Adds to `status` the files of the bundle that the index tells git not to look at. */
static int add_hidden(const struct bundle *bundle, const char *prefix, const struct buf *tracked,
	struct buf *status)
{
	int failed = 0;
	for (size_t at = 0; at < tracked->len; at += strlen(tracked->data + at) + 1) {
		const char *entry = tracked->data + at;
		bool hidden = islower((unsigned char)*entry) || *entry == 'S';
		if (hidden && member_at(bundle, prefix, entry + 2))
			failed |= buf_add(status, "hh ", 3) ||
				  buf_add(status, entry + 2, strlen(entry + 2) + 1);
	}
	return failed;
}

static int check_repo(
	const struct bundle *bundle, struct git_repo *git_repo, bool nearest, struct err *e)
{
	struct asked asked = {.count = 0};
	AUTO_BUF tracked = BUF_INIT(STATUS_BYTES_MAX), status = BUF_INIT(STATUS_BYTES_MAX);
	arena_init(&asked.arena);
	ask_bundle(&asked, bundle, git_repo->work_tree);
	int failed = git_learn(git_repo, e) ||
		     git_tracked(git_repo, asked.paths, asked.count, &tracked, e);
	if (!failed && (nearest || tracked.len))
		failed = git_status(git_repo, asked.paths, asked.count, &status, e) ||
			 add_hidden(
				 bundle, prefix_in(bundle, git_repo->work_tree), &tracked, &status);
	if (failed && git_explain(git_repo, e))
		err_wrap(e, "cannot tell whether the bundle is committed in %s",
			git_repo->work_tree);
	else if (status.len)
		failed = refuse_changes(&status,
			has_crlf(bundle, prefix_in(bundle, git_repo->work_tree), &status), e);
	arena_done(&asked.arena);
	return failed;
}

/* Checks also an enclosing repository that tracks the bundle: otherwise a command that may write
 * the workspace could put a repository of its own around its changes. */
int bundle_check_committed(const struct bundle *bundle, const char *profile, struct err *e)
{
	char at[PATH_MAX];
	bool nearest = true;
	if (bundle->form == BUNDLE_PACKED)
		return 0;
	for (snprintf(at, sizeof(at), "%s", bundle->root); *at; nearest = false) {
		struct git_repo r;
		if (git_find(at, &r, e))
			return -1;
		if (!r.git_dir)
			return 0;
		r.profile = profile;
		int failed = check_repo(bundle, &r, nearest, e);
		snprintf(at, sizeof(at), "%s", r.work_tree);
		*strrchr(at, '/') = '\0';
		git_repo_done(&r);
		if (failed)
			return -1;
	}
	return 0;
}
