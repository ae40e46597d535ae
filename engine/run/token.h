/*
 * Keys that a command of the operator prints (providers.NAME.token_command). The processes that
 * read keys (run/secret.h) run it on the host, and share the keys in memory that the supervisor
 * holds open and never reads.
 */
#ifndef RUN_TOKEN_H
#define RUN_TOKEN_H
#include "config/config.h"

/* Opens the memory for the tokens of all providers. Returns the descriptor, or -1 with the
 * error. */
int token_open(struct err *e);
/* Returns the provider's token: the kept one while it is good, else the one that its command
 * prints. Heap; the caller wipes it. `kept_fd` is from token_open; -1: nothing is kept. */
int token_take(const struct config *config, const struct config_provider *provider, int kept_fd,
	char **out, struct err *e);
/* Returns the kept token of a provider; NULL: there is none that is still good. Runs nothing. */
char *token_kept(const struct config_provider *provider, int kept_fd);
#endif
