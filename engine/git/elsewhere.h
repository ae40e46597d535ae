/*
 * What of a work tree's repository lies outside of it: a linked work tree's, a submodule's, that of
 * `git init --separate-git-dir`, and the objects that one borrows. Commands may read it, as they
 * may read a `.git` inside. Of a repository around the work tree they see nothing.
 */
#ifndef GIT_ELSEWHERE_H
#define GIT_ELSEWHERE_H
#include "base/arena.h"

enum { GIT_ELSEWHERE_MAX = 16 };

struct git_elsewhere {
	const char *paths[GIT_ELSEWHERE_MAX]; /* real paths of directories */
	size_t count;
	const char *around; /* the work tree of the repository around, NULL: there is none */
};

/* Looks from the real path `work_tree`; `out` is the arena's. What cannot be understood, or is no
 * repository where it leads to, is left out: whoever made the work tree wrote that. */
void git_elsewhere_find(const char *work_tree, struct arena *arena, struct git_elsewhere *out);
#endif
