/*
 * Settings from git's own configuration, the repository's and the operator's. They are only read;
 * git obeys none of them except those that this module returns.
 */
#ifndef GIT_SETTINGS_H
#define GIT_SETTINGS_H
#include "git/git.h"

/* The operator's own git configuration files, the most important first. Missing files are skipped,
 * and includes are not followed. */
struct git_files {
	const char *const *paths;
	size_t count;
};

/* Returns the value of `key` (in lower case) in the repository's configuration, heap; NULL: it has
 * none, or there is an error. */
char *git_setting(const struct git_repo *git_repo, const char *key, struct err *e);
/* Fills the empty parts of *out, from the repository first, then from the files. */
int git_identity_find(const struct git_repo *git_repo, const struct git_files *files,
	struct git_identity *out, struct err *e);
/* Allows the calls of `clone` to run the content filters of `from` or the files (except git-lfs),
 * in the jail of those calls. A failing filter makes its call fail. Without this call no filter
 * runs. */
int git_filters_allow(const struct git_repo *from, const struct git_files *files,
	struct git_repo *clone, struct err *e);
/* Reports whether the calls of `git_repo` run the filter `name`. */
bool git_filter_runs(const struct git_repo *git_repo, const char *name);
#endif
