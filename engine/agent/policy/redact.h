/*
 * Secrets out of text: anything sent to a model, logged or shown goes through here.
 *
 * Runs on whole, reassembled text, never per read. What is recognised: configured secrets in every
 * usual encoding, PEM private keys, credentials in headers and URLs, values of names that say they
 * are secret, tokens in a vendor's shape, and long high-entropy words. Commit hashes, UUIDs,
 * digests named as such, lock-file integrity values and public keys are left alone.
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
/* The values of those NAME=VALUE strings (NULL-terminated) whose names say that they are secret. */
int redact_add_environment(struct redact *redact, char *const *environment);
/* Wipes and releases. */
void redact_done(struct redact *redact);
typedef int redact_fn(const struct redact *redact, const char *text, size_t len, struct buf *out,
	struct redact_tally *tally);
/* Appends `text` with every secret replaced. `tally` (NULL: none) counts by kind. */
redact_fn redact_text;
/* The same where the text goes on being used: what only looks like a secret, a long word or what
 * stands behind `password:`, is left as it is. */
redact_fn redact_known;
/* redact_text where somebody reads what they wrote: a long word that is spelt with words is a name
 * there, and stays. */
redact_fn redact_own;
/* redact_own where places in the text are known: a secret gives way to as many `*`, but for its
 * line breaks. */
redact_fn redact_over;
/* Where to cut `text` instead of at `at`, for half of a secret is none that is found: before the
 * one that lies across it, or, when what stands `behind` the cut is kept, after it. */
size_t redact_cut(
	const struct redact *redact, const char *text, size_t len, size_t at, bool behind);
/* Whether `text` holds a placeholder: such text must never be written into a file. */
bool redact_is_marked(const char *text);
#endif
