/*
 * The providers' keys, which the supervisor never holds. A forked child reads a key and does the
 * work that needs it, such as writing the agent's second line, or only checks that there is one.
 */
#ifndef RUN_SECRET_H
#define RUN_SECRET_H
#include "config/config.h"
#include "contract/agent_order.h"
#include <jansson.h>
#include <sys/types.h>

/* The sources of keys. */
struct secret_source {
	const struct config *config;
	int tokens_fd; /* from token_open; -1: no token is kept */
};

struct secret_child {
	pid_t pid;
	int error_fd; /* gives the error as text; end of file: the child is done; owned */
};

/* Starts the child, which adds the keys and secrets to the task and writes it to `to_fd`. */
int secret_start(const struct secret_source *source, const struct agent_task *task, int to_fd,
	struct secret_child *out, struct err *e);
/* Reaps the child. Returns its error number, 0 if there is none, -1 if it was killed. */
int secret_end(struct secret_child *child);
/* Runs `work` in such a child, with all texts that no model may see: the keys, and variables whose
 * name says that they are secret. `keep_fd` is the only descriptor of the caller that stays open.
 * Returns -1 with the error of `work`. */
typedef int secret_work(void *ctx, const json_t *secrets, struct err *e);
int secret_apart(const struct secret_source *source, secret_work *work, void *ctx, int keep_fd,
	struct err *e);
/* Checks that the provider's key and the other values sent to it can be read; the message says
 * where they were looked for. Runs its token_command. e->number ENOENT: there is no key. */
int secret_check(
	const struct secret_source *source, const struct config_provider *provider, struct err *e);
#endif
