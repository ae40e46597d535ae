/*
 * A private clone: a directory with a work tree and a repository of its own that borrows the
 * objects of the operator's. A machine works in it, and its commits go back on one branch.
 */
#ifndef GIT_CLONE_H
#define GIT_CLONE_H
#include "git/git.h"

/* Makes `dir` a clone of `from` whose HEAD is `branch`, without commits yet. An earlier clone in
 * `dir` keeps its objects and work tree. Release *out. */
int git_clone_open(const struct git_repo *from, const char *dir, const char *branch,
	struct git_repo *out, struct err *e);
/* Makes a clone's .git anew, without its objects, if a command may have written to it: on the
 * hardened profile. The caller restores the branch. */
int git_clone_mend(const struct git_repo *from, const struct git_repo *clone, const char *branch,
	struct err *e);
/* Makes an ordinary repository of all the files in `dir`, in one commit. */
int git_make(const char *dir, const struct git_identity *as, struct err *e);
/* Empties the work tree and the index, fills both with `tree` (a tree or a commit), and moves
 * HEAD's branch to `commit`. Nothing stays of what was there before. Notes the files that git would
 * now commit in another form, because .gitattributes is newer than they are. */
int git_clone_checkout(struct git_repo *clone, const char *tree, const char *commit, struct err *e);
/* Stages all changes of the work tree, including new and ignored files, and sets `tree`. A noted
 * file that is still as it was checked out is not a change. Repositories inside the work tree, and
 * files in the places of submodules, are left out and counted. Appends the paths that were added or
 * changed to `changed` (may be NULL), each ended by NUL. */
int git_clone_stage(const struct git_repo *clone, char tree[GIT_OID_BYTES], size_t *left_out,
	struct buf *changed, struct err *e);

struct git_commit {
	const char *tree, *parent, *message;
	const struct git_identity *as;
};
/* Finds out whether `tree` differs from that of `parent`. */
int git_clone_differs(const struct git_repo *clone, const char *parent, const char *tree,
	bool *differs, struct err *e);
/* Makes a commit and moves no branch. `oid` is "" if it would change nothing. Refused if a changed
 * file belongs to a filter that is not run, because the wrong bytes would be committed; or to
 * git-lfs, whose files would stay in the clone. */
int git_clone_commit(const struct git_repo *clone, const struct git_commit *commit,
	char oid[GIT_OID_BYTES], struct err *e);
/* Moves the branch that the clone's HEAD names. */
int git_clone_advance(const struct git_repo *clone, const char *commit, struct err *e);
/* Gives `to` the objects of `commit` that cannot be reached from `base`. Moves no branch. */
int git_clone_send(const struct git_repo *clone, const struct git_repo *to, const char *base,
	const char *commit, struct err *e);
#endif
