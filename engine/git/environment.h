/*
 * The environment that switches off what a repository's configuration could execute.
 */
#ifndef GIT_ENVIRONMENT_H
#define GIT_ENVIRONMENT_H
#include "base/buf.h"
#include "base/err.h"
#include "git/git.h"
#include <jansson.h>

/* The environment of one call as {NAME: VALUE}, a new reference; NULL with the reason. `names`:
 * what `git config --list --name-only -z` printed, every name of which gets its overrides. `as`:
 * who commits; NULL: nobody does. */
json_t *environment_new(
	const struct buf *names, const struct git_identity *as, struct err *e) MUST_CHECK;
#endif
