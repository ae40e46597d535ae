/*
 * Who vouches for a bundle: --allowed-signers, machine.require_signature, machine.allowed_signers.
 */
#ifndef CLI_BUNDLE_SIGNERS_H
#define CLI_BUNDLE_SIGNERS_H
#include "bundle/sign.h"
#include "cli/verb/verb.h"
#include "config/config.h"

/* Verifies the signature where one is asked for (by the option, or by configuration for a packed
 * bundle) or is there and can be judged. `config` may be NULL. `principal` is empty when nobody was
 * asked. -1: the bundle is not to be trusted. */
int signers_check(const struct call *call, const struct config *config, const struct bundle *bundle,
	char principal[SIGN_PRINCIPAL_BYTES], struct err *e);
#endif
