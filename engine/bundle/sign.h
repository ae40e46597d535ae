/*
 * Signatures of bundles, in OpenSSH's format over the digest (namespace agent6-bundle), made and
 * verified by ssh-keygen(1): teams sign with the keys they have.
 *
 * The signature of a bundle lies beside it: NAME.asm.sig. It signs the digest's text, "sha256:HEX"
 * without a newline.
 */
#ifndef BUNDLE_SIGN_H
#define BUNDLE_SIGN_H
#include "bundle/bundle.h"

enum { SIGN_PRINCIPAL_BYTES = 256 };

/* Signs with the private key (or the public key of one that an ssh-agent holds) in `key_file` and
 * writes the signature. ssh-keygen may ask for a passphrase on the terminal. */
int sign_write(const struct bundle *bundle, const char *key_file, struct err *e);
/* Verifies the signature beside the bundle against `allowed_signers` (ssh-keygen(1), ALLOWED
 * SIGNERS), and sets `principal` to the signer. Returns -1 if it is missing or not valid. */
int sign_verify(const struct bundle *bundle, const char *allowed_signers,
	char principal[SIGN_PRINCIPAL_BYTES], struct err *e);
/* Reports whether a signature lies beside the bundle. */
bool sign_exists(const struct bundle *bundle);
#endif
