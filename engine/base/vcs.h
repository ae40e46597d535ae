/*
 * The names by which git, Mercurial and Jujutsu recognise a repository. Pure.
 *
 * Attack: a directory that runs code on the host once a person, or a prompt or an editor of theirs,
 * merely stands in it. Each of these tools executes what a repository's own settings name.
 */
#ifndef BASE_VCS_H
#define BASE_VCS_H
#include <stdbool.h>

/* What an entry of a directory makes of that directory, a set of bits. */
enum vcs_part {
	VCS_NAME = 1, /* .git, .hg, .jj: a work tree, whatever lies there */
	VCS_HEAD = 2, /* the others are of git alone, and count together */
	VCS_OBJECTS = 4,
	VCS_REFS = 8,
	VCS_COMMONDIR = 16 /* stands for objects and refs, which lie where it says */
};

/* Returns the part that an entry called `name` is, 0: none. Letters count alike in both cases, and
 * bytes beyond ASCII not at all: a file system that folds names may do so. */
unsigned vcs_part(const char *name);
/* Reports whether git takes a directory with these parts for a git directory as it is: a bare
 * repository, and what a `.git` is or leads to. */
bool vcs_is_git_dir(unsigned parts);
/* Reports whether `name` is `.git`, spelt as above. */
bool vcs_is_dot_git(const char *name);
/* Reports whether a component of `path` is a VCS_NAME. */
bool vcs_in_path(const char *path);
#endif
