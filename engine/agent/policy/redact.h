/*
 * Redaction: removes secrets from text. Everything that is sent to a model, logged or shown passes
 * here.
 *
 * It works on whole, reassembled text, never per read. It recognises configured secrets in every
 * usual encoding, PEM private keys, credentials in headers and URLs, values of names that say they
 * are secret, tokens in a vendor's shape, and long high-entropy words. It leaves alone commit
 * hashes, UUIDs, digests named as such, lock-file integrity values and public keys.
 */
#ifndef POLICY_REDACT_H
#define POLICY_REDACT_H
#include "base/buf.h"
#include "base/secrets.h"
#include <stdbool.h>

/* kind, name shown in [REDACTED:name] */
#define REDACT_KINDS(X)                                                                            \
	X(KEY, "key")                                                                              \
	X(PEM, "private-key")                                                                      \
	X(HEADER, "authorization")                                                                 \
	X(URL, "url-password")                                                                     \
	X(VALUE, "credential")                                                                     \
	X(TOKEN, "token")                                                                          \
	X(ENTROPY, "high-entropy")

enum redact_kind {
#define KIND(kind, name) REDACT_##kind,
	REDACT_KINDS(KIND)
#undef KIND
		REDACT_KIND_COUNT
};

#define REDACT_MARK "[REDACTED:"

/* The configured secrets. */
struct redact {
	struct secrets secrets;
};

struct redact_tally {
	size_t of[REDACT_KIND_COUNT];
};

const char *redact_kind_name(enum redact_kind kind);
/* Looks for `secret` from now on, however it is encoded (base/secrets.h). */
int redact_add(struct redact *redact, const char *secret);
/* Adds the values of those NAME=VALUE strings (NULL-terminated) whose names say that they are
 * secret. */
int redact_add_environment(struct redact *redact, char *const *environment);
/* Wipes and releases the secrets. */
void redact_done(struct redact *redact);
typedef int redact_fn(const struct redact *redact, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally);
/* Appends `text` with every secret replaced. `tally` (NULL: none) counts by kind. */
redact_fn redact_text;
/* Does the same for text that stays in use: something that only looks like a secret, such as a long
 * word or the text after `password:`, is left as it is. */
redact_fn redact_known;
/* Does the same as redact_text for people who read their own text: a long word made of words is a
 * name there, and stays. */
redact_fn redact_own;
/* Does the same as redact_own, but keeps the positions in the text: a secret is replaced by as many
 * `*`, and its line breaks stay. */
redact_fn redact_over;
/* Returns where to cut `text` instead of at `at`, since half of a secret would not be found: before
 * a secret that lies across `at`, or after it if the part `behind` the cut is kept. */
size_t redact_cut(
	const struct redact *redact, const char *text, size_t len, size_t at, bool behind);
/* Reports whether `text` holds a placeholder. Such text must never be written to a file. */
bool redact_is_marked(const char *text);
#endif
