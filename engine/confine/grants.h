/*
 * Secrets that the operator grants to tool states (sandbox.secrets). A command gets each under the
 * variable it comes from, and it is removed from the command's output.
 *
 * Values are read from the supervisor's environment when they are needed, and are in no plan,
 * journal or file.
 */
#ifndef CONFINE_GRANTS_H
#define CONFINE_GRANTS_H
#include "base/secrets.h"
#include "config/config.h"
#include "contract/jail_order.h"
#include "launch/output.h"
#include "machine/machine.h"

/* A shorter secret would be found in innocent output, and could be guessed from what is
 * redacted. */
enum { GRANT_BYTES_MIN = SECRETS_BYTES_MIN };

/* Checks that `machine` may have the secret and that it is set. The message names the setting. */
int grants_check(
	const struct config *config, const char *machine, const char *secret, struct err *e);
/* Returns the order for a tool state's launcher: `order` with the secrets in its
 * environment. Heap text; the caller wipes it. NULL: a secret is missing. */
char *grants_order(const struct config *config, const struct tool_state *state,
	const struct jail_order *order, struct err *e);
/* Removes the state's secrets from a closed output. */
void grants_redact(const struct config *config, const struct state *state, struct output *output);
#endif
