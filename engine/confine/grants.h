/*
 * Secrets that the operator grants to tool states (sandbox.secrets): exported to one command under
 * the variable they come from, and taken out of whatever it prints.
 *
 * Values are read from the supervisor's environment when they are needed and live in no plan,
 * journal or file.
 */
#ifndef CONFINE_GRANTS_H
#define CONFINE_GRANTS_H
#include "base/secrets.h"
#include "config/config.h"
#include "launch/output.h"
#include "machine/machine.h"

/* Shorter ones would be found in innocent output, and could be guessed from what redaction hides.
 */
enum { GRANT_BYTES_MIN = SECRETS_BYTES_MIN };

/* Whether `machine` may have the secret, and there is one. The message names the setting. */
int grants_check(
	const struct config *config, const char *machine, const char *secret, struct err *e);
/* The order for the launcher of a tool state whose command and environment are `policy`'s, its
 * secrets in env: heap text, to be wiped. NULL: a secret is gone. */
char *grants_order(const struct config *config, const struct tool_state *state,
	const json_t *policy, struct err *e);
/* Takes the state's secrets out of a closed output. */
void grants_redact(const struct config *config, const struct state *state, struct output *output);
#endif
