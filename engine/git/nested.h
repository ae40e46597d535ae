/*
 * Repositories that a commit would bring into a work tree.
 *
 * Attack: HEAD, config, objects and refs committed into one directory. After a checkout, whoever
 * stands there has git execute what that config names; nobody needs to have run a command.
 */
#ifndef GIT_NESTED_H
#define GIT_NESTED_H
#include "base/buf.h"
#include "base/err.h"

/* Refuses changed `paths`, each ended by NUL, if one belongs to a .git, .hg or .jj, or lies in a
 * directory that is itself a git directory. The contents of `clone`, where the change was made, and
 * of `checkout`, where it may be merged, count together. */
int nested_check(
	const struct buf *paths, const char *clone, const char *checkout, struct err *e) MUST_CHECK;
#endif
