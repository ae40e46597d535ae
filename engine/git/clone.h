/*
 * A private clone: a directory with a work tree and a repository of its own that borrows the
 * objects of the operator's. A machine works in it; what it made goes back as commits on one
 * branch.
 */
#ifndef GIT_CLONE_H
#define GIT_CLONE_H
#include "git/git.h"

/* Makes `dir` a clone of `from` whose HEAD is `branch`, without commits yet. Of one that was made
 * before it keeps the objects and the work tree. *out is to be released. */
int git_clone_open(const struct git_repo *from, const char *dir, const char *branch,
	struct git_repo *out, struct err *e);
/* Makes a clone's .git anew but for its objects, where a command may have written to it: on the
 * hardened profile. What is on the branch is the caller's to restore. */
int git_clone_mend(const struct git_repo *from, const struct git_repo *clone, const char *branch,
	struct err *e);
/* An ordinary repository made of all the files in `dir`, in one commit. */
int git_make(const char *dir, const struct git_identity *as, struct err *e);
/* Empties the work tree and the index and fills both with `tree` (a tree or a commit). HEAD's
 * branch moves to `commit`. Nothing that was there before stays. Which files git would commit
 * otherwise than it has them, because .gitattributes came later than they did, is noted. */
int git_clone_checkout(struct git_repo *clone, const char *tree, const char *commit, struct err *e);
/* Takes all changes of the work tree, new files but ignored ones included, into the index; `tree`
 * is what it holds then. A noted file that is still as it was checked out is none. Repositories
 * inside the work tree, and what is put where submodules belong, are left out and counted. The
 * paths that were added or changed are appended to `changed`, each ended by NUL (NULL: nobody
 * asks). */
int git_clone_stage(const struct git_repo *clone, char tree[GIT_OID_BYTES], size_t *left_out,
	struct buf *changed, struct err *e);

struct git_commit {
	const char *tree, *parent, *message;
	const struct git_identity *as;
};
/* Whether `tree` differs from that of `parent`. */
int git_clone_differs(const struct git_repo *clone, const char *parent, const char *tree,
	bool *differs, struct err *e);
/* Makes a commit; no branch moves. `oid` is "" where it would change nothing. Refused where a
 * changed file belongs to a filter which is not run, because the wrong bytes would be committed, or
 * to git-lfs, whose files would stay behind in the clone. */
int git_clone_commit(const struct git_repo *clone, const struct git_commit *commit,
	char oid[GIT_OID_BYTES], struct err *e);
/* Moves the branch that the clone's HEAD names. */
int git_clone_advance(const struct git_repo *clone, const char *commit, struct err *e);
/* Gives `to` the objects of `commit` that are not reachable from `base`. No branch moves. */
int git_clone_send(const struct git_repo *clone, const struct git_repo *to, const char *base,
	const char *commit, struct err *e);
#endif
