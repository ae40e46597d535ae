/*
 * The environment that switches off what a repository's configuration could execute.
 */
#ifndef GIT_ENVIRONMENT_H
#define GIT_ENVIRONMENT_H
#include "base/buf.h"
#include "base/err.h"
#include "git/git.h"
#include <jansson.h>

/* What a call's environment is made of. */
struct environment_ask {
	const struct buf *names;       /* what `git config --list --name-only -z` printed */
	const struct buf *filters;     /* the only filters that run: entries "KEY\nVALUE\0" */
	const struct git_identity *as; /* who commits; NULL: nobody does */
};

/* The environment of one call as {NAME: VALUE}, a new reference; NULL with the reason. Every name
 * gets its overrides. */
json_t *environment_new(const struct environment_ask *ask, struct err *e) MUST_CHECK;
#endif
