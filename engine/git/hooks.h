/*
 * The operator's commit hooks (git.run_repo_hooks), run for a commit in a clone. They are taken
 * from the operator's repository, never from the clone, where a model may have written. They run in
 * the jail of git's own calls, which has the clone and nothing else.
 */
#ifndef GIT_HOOKS_H
#define GIT_HOOKS_H
#include "git/git.h"

/* Runs pre-commit, prepare-commit-msg and commit-msg, as far as `from` has them, on the index of
 * `clone`. The first may change work tree and index, the others the message. A hook that fails or
 * cannot be run is an error: make no commit then. */
int git_hooks_run(const struct git_repo *from, const struct git_repo *clone,
	const struct git_identity *as, struct buf *message, struct err *e);
#endif
