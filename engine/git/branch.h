/*
 * The operator's repository, as far as a machine may use it: its last commit, and one branch that
 * is never checked out. Its work tree, HEAD and index are not written.
 */
#ifndef GIT_BRANCH_H
#define GIT_BRANCH_H
#include "git/git.h"

/* The commit that HEAD leads to. Not having one yet is an error. */
int git_head(const struct git_repo *git_repo, char oid[GIT_OID_BYTES], struct err *e);
/* Whether HEAD leads to a branch that has no commit yet. */
bool git_unborn(const struct git_repo *git_repo);
/* The tip of refs/heads/<branch>; "" where there is no such branch. */
int git_branch_tip(const struct git_repo *git_repo, const char *branch, char oid[GIT_OID_BYTES],
	struct err *e);
/* Appends "LETTER\0PATH\0" for each path that the trees of two commits have otherwise: A for one
 * that `to` has in addition, D for one that it lacks. */
int git_changes(const struct git_repo *git_repo, const char *from, const char *to, struct buf *out,
	struct err *e);
/* Refused where a work tree has the branch checked out. */
int git_branch_check(const struct git_repo *git_repo, const char *branch, struct err *e);
/* Moves refs/heads/<branch> from `from` ("": it must not exist) to `to`, after that check. */
struct git_move {
	const char *branch, *from, *to;
};
int git_branch_move(
	const struct git_repo *git_repo, const struct git_move *git_move, struct err *e);

/* Removes the lock that a git left on the branch when it was killed. Only for who holds the
 * instance that the branch belongs to. */
void git_branch_unlock(const struct git_repo *git_repo, const char *branch);
#endif
