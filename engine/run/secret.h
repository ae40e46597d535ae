/*
 * The provider's key, which the supervisor never holds: a forked child reads it and writes the
 * agent's second line with it, or only says whether there is one.
 */
#ifndef RUN_SECRET_H
#define RUN_SECRET_H
#include "config/config.h"
#include <jansson.h>
#include <sys/types.h>

struct secret_child {
	pid_t pid;
	int error_fd; /* what went wrong, as text; end of file: it is done. Owned */
};

/* Starts the child. `request` is the second line, its keys null; filled in, it goes to `to_fd`.
 * With `p` nothing is written (to_fd is -1): the child only looks for that provider's key. */
int secret_start(const struct config *c, const struct config_provider *p, const json_t *request,
	int to_fd, struct secret_child *out, struct err *e);
/* Reaps it; the errno of what went wrong, where there is one. */
int secret_end(struct secret_child *s);
/* Whether the provider's key can be read; the message says where it was looked for. e->number
 * ENOENT: there is none. */
int secret_check(const struct config *c, const struct config_provider *p, struct err *e);
#endif
