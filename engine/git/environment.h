/*
 * The environment that switches off what a repository's configuration could execute.
 */
#ifndef GIT_ENVIRONMENT_H
#define GIT_ENVIRONMENT_H
#include "base/buf.h"
#include "base/err.h"
#include "git/git.h"
#include <jansson.h>

/* The environment of one call as {NAME: VALUE}, a new reference; NULL with the reason. Each of
 * `names`, as `git config --list --name-only -z` prints them, gets its overrides. `filters`,
 * entries "KEY\nVALUE\0", are the only ones that run. `as` commits; NULL: nobody does. */
json_t *environment_new(const struct buf *names, const struct buf *filters,
	const struct git_identity *as, struct err *e) MUST_CHECK;
#endif
