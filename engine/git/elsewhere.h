/*
 * Finds the parts of a work tree's repository that lie outside of it: that of a linked work tree,
 * of a submodule, or of `git init --separate-git-dir`, and the objects that one borrows. Commands
 * may read these, as they may read a `.git` inside. They see nothing of a repository around the
 * work tree.
 */
#ifndef GIT_ELSEWHERE_H
#define GIT_ELSEWHERE_H
#include "base/arena.h"

enum { GIT_ELSEWHERE_MAX = 16 };

struct git_elsewhere {
	const char *paths[GIT_ELSEWHERE_MAX]; /* real paths of directories */
	size_t count;
	const char *around; /* the work tree of a surrounding repository; NULL: there is none */
};

/* Looks from the real path `work_tree`; the paths live in the arena. A file that cannot be
 * understood, or that does not lead to a repository, is ignored, because whoever made the work tree
 * may have written it. */
void git_elsewhere_find(const char *work_tree, struct arena *arena, struct git_elsewhere *out);
#endif
