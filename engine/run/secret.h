/*
 * The provider's key, which the supervisor never holds: a forked child reads it and does what needs
 * it, such as writing the agent's second line, or only says whether there is one.
 */
#ifndef RUN_SECRET_H
#define RUN_SECRET_H
#include "config/config.h"
#include <jansson.h>
#include <sys/types.h>

/* Where keys come from. */
struct secret_source {
	const struct config *config;
	int tokens_fd; /* of token_open; -1: no token is kept */
};

struct secret_child {
	pid_t pid;
	int error_fd; /* what went wrong, as text; end of file: it is done. Owned */
};

/* Starts the child. `request` is the second line, its keys null; filled in, it goes to `to_fd`. */
int secret_start(const struct secret_source *source, const json_t *request, int to_fd,
	struct secret_child *out, struct err *e);
/* Reaps it; the errno of what went wrong, where there is one; -1: it was killed. */
int secret_end(struct secret_child *child);
/* In such a child: calls `work` with every text that no model may see, those keys and what the
 * environment calls a secret, and ends. `keep_fd` is all of the caller's that it has. -1 with what
 * `work` said. */
typedef int secret_work(void *ctx, const json_t *secrets, struct err *e);
int secret_apart(const struct secret_source *source, secret_work *work, void *ctx, int keep_fd,
	struct err *e);
/* Whether the provider's key and what else it is sent can be read; the message says where it was
 * looked for. A token_command is run for it. e->number ENOENT: there is none. */
int secret_check(
	const struct secret_source *source, const struct config_provider *provider, struct err *e);
#endif
