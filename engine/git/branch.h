/*
 * The operator's repository, as far as a machine may use it: its last commit, and one branch that
 * is never checked out. Its work tree, HEAD and index are not written.
 */
#ifndef GIT_BRANCH_H
#define GIT_BRANCH_H
#include "git/git.h"

/* Finds the commit of HEAD. Fails if there is none yet. */
int git_head(const struct git_repo *git_repo, char oid[GIT_OID_BYTES], struct err *e);
/* Reports whether HEAD names a branch that has no commit yet. */
bool git_unborn(const struct git_repo *git_repo);
/* Finds the tip of refs/heads/<branch>; "": there is no such branch. */
int git_branch_tip(const struct git_repo *git_repo, const char *branch, char oid[GIT_OID_BYTES],
	struct err *e);
struct git_between {
	const char *from, *to; /* commits */
	bool no_tree;          /* git sees no work tree, and needs a list of settings of its own */
};
/* Appends "LETTER\0PATH\0" for each path that differs between the trees of two commits: A if only
 * `to` has it, D if `to` lacks it. */
int git_changes(const struct git_repo *git_repo, const struct git_between *git_between,
	struct buf *out, struct err *e);
/* Refuses a branch that some work tree has checked out. */
int git_branch_check(const struct git_repo *git_repo, const char *branch, struct err *e);
/* Moves refs/heads/<branch> from `from` ("": it must not exist) to `to`, after git_branch_check. */
struct git_move {
	const char *branch, *from, *to;
};
int git_branch_move(
	const struct git_repo *git_repo, const struct git_move *git_move, struct err *e);

/* Removes the lock that a killed git left on the branch. The caller must hold the instance that the
 * branch belongs to. */
void git_branch_unlock(const struct git_repo *git_repo, const char *branch);
#endif
