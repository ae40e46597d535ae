/*
 * The names by which git, Mercurial and Jujutsu recognise a repository. Pure.
 *
 * Attack: a directory that runs code on the host once a person, or their prompt or editor, merely
 * enters it. Each of these tools executes what a repository's own settings name.
 */
#ifndef BASE_VCS_H
#define BASE_VCS_H
#include <stdbool.h>

/* The role of a directory's entry in a repository, a set of bits. */
enum vcs_part {
	VCS_NAME = 1, /* .git, .hg, .jj: a work tree, whatever lies there */
	VCS_HEAD = 2, /* this one and the next are git's, and count together */
	VCS_OBJECTS = 4,
	VCS_REFS = 8,
	VCS_COMMONDIR = 16 /* replaces objects and refs, which lie where this file says */
};

/* Returns the role of an entry called `name`; 0: none. Case does not matter, and bytes beyond ASCII
 * are ignored, because a file system that folds names may do so. */
unsigned vcs_part(const char *name);
/* Reports whether git takes a directory with these entries for a git directory: a bare repository,
 * or what a `.git` is or leads to. */
bool vcs_is_git_dir(unsigned parts);
/* Reports whether a component of `path` is a VCS_NAME. */
bool vcs_in_path(const char *path);
#endif
