/*
 * Known secrets, found in a text in every usual encoding: as they are, JSON-escaped or
 * percent-encoded in any part and up to twice, in hex, and in base64 at every alignment; in one
 * line or wrapped.
 */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* SECRETS_GROWTH: the most bytes for a letter that is escaped once: \u002b. */
enum { SECRETS_BYTES_MIN = 8, SECRETS_GROWTH = 6 };

struct secrets {
	char **needles;             /* sorted by strcmp, for look-ups */
	size_t count, longest;      /* longest: of the spellings that are found */
	bool begins[UCHAR_MAX + 1]; /* by byte: whether one of them may begin with it */
};

/* Adds a secret to look for. One shorter than SECRETS_BYTES_MIN is ignored: it would match
 * everywhere. Returns -1 if out of memory. */
int secrets_add(struct secrets *secrets, const char *secret);
/* Wipes and releases the secrets. */
void secrets_done(struct secrets *secrets);
/* Returns how many bytes at `text` are a secret; 0: none. The longest match counts: if one secret
 * begins like another, the rest of it is secret as well. */
size_t secrets_match(const struct secrets *secrets, const char *text, size_t len);
/* Returns the end of a secret that begins in text[from, to), if that lies after `to`. */
size_t secrets_end(
	const struct secrets *secrets, const char *text, size_t len, size_t from, size_t to);
#endif
