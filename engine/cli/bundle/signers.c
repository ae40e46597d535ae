#include "cli/bundle/signers.h"

int signers_check(const struct call *call, const struct config *config, const struct bundle *bundle,
	char principal[SIGN_PRINCIPAL_BYTES], struct err *e)
{
	const char *option = call_value(call, "allowed-signers");
	const char *allowed = option ? option : config ? config->machine.allowed_signers : NULL;
	bool required = option || (config && config->machine.require_signature &&
					  bundle->form == BUNDLE_PACKED);
	principal[0] = '\0';
	if (!required && (!allowed || !sign_exists(bundle)))
		return 0;
	if (!allowed)
		return err_set(e, "machine.require_signature is set, but machine.allowed_signers "
				  "names no file: set it, or pass --allowed-signers FILE");
	return sign_verify(bundle, allowed, principal, e);
}
