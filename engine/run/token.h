/*
 * Keys that a command of the operator's prints (providers.NAME.token_command): run on the host by
 * the processes that read keys (run/secret.h), kept between them in memory that the supervisor
 * holds open and never reads.
 */
#ifndef RUN_TOKEN_H
#define RUN_TOKEN_H
#include "config/config.h"

/* Opens the memory for every provider's token; -1 with the error. */
int token_open(struct err *e);
/* Hands out the provider's token: what is kept and still good, else what its command prints. Heap;
 * the caller wipes it. `kept_fd` is of token_open; -1: nothing is kept. */
int token_take(const struct config *config, const struct config_provider *provider, int kept_fd,
	char **out, struct err *e);
/* What is kept of it; NULL: nothing that is still good. Runs nothing. */
char *token_kept(const struct config_provider *provider, int kept_fd);
#endif
