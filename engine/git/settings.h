/*
 * What git's own configuration says: the repository's, and the operator's files. Read, never obeyed
 * but for what this module hands out.
 */
#ifndef GIT_SETTINGS_H
#define GIT_SETTINGS_H
#include "git/git.h"

/* The operator's own git configuration, the most important first. What does not exist is passed
 * over; none of it is followed to what it includes. */
struct git_files {
	const char *const *paths;
	size_t count;
};

/* The value of `key` (in lower case) in the repository's configuration; NULL: it has none, or the
 * error says why. Heap. */
char *git_setting(const struct git_repo *git_repo, const char *key, struct err *e);
/* Fills what is still empty of *out: from the repository, then from the files. */
int git_identity_find(const struct git_repo *git_repo, const struct git_files *files,
	struct git_identity *out, struct err *e);
/* Has the calls of `clone` run the content filters that `from` or the files define (but for
 * git-lfs), in the jail of those calls; one that fails makes its call fail. Without this none runs.
 */
int git_filters_allow(const struct git_repo *from, const struct git_files *files,
	struct git_repo *clone, struct err *e);
/* Whether the calls of `git_repo` run the filter `name`. */
bool git_filter_runs(const struct git_repo *git_repo, const char *name);
#endif
