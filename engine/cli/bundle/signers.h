/*
 * The signature of a bundle, as --allowed-signers, machine.require_signature and
 * machine.allowed_signers demand it.
 */
#ifndef CLI_BUNDLE_SIGNERS_H
#define CLI_BUNDLE_SIGNERS_H
#include "bundle/sign.h"
#include "cli/verb/verb.h"
#include "config/config.h"

/* Verifies the signature if one is demanded (by the option, or by configuration for a packed
 * bundle), or if there is one that can be judged. `config` may be NULL. `principal` is empty if
 * nothing was verified. Returns -1 if the bundle must not be trusted. */
int signers_check(const struct call *call, const struct config *config, const struct bundle *bundle,
	char principal[SIGN_PRINCIPAL_BYTES], struct err *e);
#endif
