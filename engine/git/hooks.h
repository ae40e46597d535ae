/*
 * The operator's commit hooks (git.run_repo_hooks), run for a commit in a clone: as files of the
 * operator's repository, never of the clone, where a model may have written; in the jail of git's
 * own calls, where there is the clone and nothing else.
 */
#ifndef GIT_HOOKS_H
#define GIT_HOOKS_H
#include "git/git.h"

/* Runs pre-commit, prepare-commit-msg and commit-msg, as far as `from` has them, on what the index
 * of `clone` holds. The first may change work tree and index, the others the message. A hook that
 * fails, and one that cannot be run, is an error: no commit is to be made. */
int git_hooks_run(const struct git_repo *from, const struct git_repo *clone,
	const struct git_identity *as, struct buf *message, struct err *e);
#endif
