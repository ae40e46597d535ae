/*
 * The environment for git: it switches off everything that a repository's configuration could
 * execute.
 */
#ifndef GIT_ENVIRONMENT_H
#define GIT_ENVIRONMENT_H
#include "base/buf.h"
#include "base/err.h"
#include "git/git.h"
#include <jansson.h>

/* Returns the environment of one call as {NAME: VALUE}, a new reference; NULL with the reason. Each
 * of `names`, from `git config --list --name-only -z`, gets its overrides. Only the filters in
 * `filters`, entries "KEY\nVALUE\0", run. `as` is the committer; NULL: none. */
json_t *environment_new(const struct buf *names, const struct buf *filters,
	const struct git_identity *as, struct err *e) MUST_CHECK;
#endif
