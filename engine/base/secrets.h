/*
 * Secrets that are known, found in a text in every usual encoding: as they are, JSON-escaped or
 * percent-encoded in any part and up to twice, in hex, and in base64 at every alignment; in one
 * line or wrapped.
 */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A letter that is escaped once takes so many bytes at most: \u002b. */
enum { SECRETS_BYTES_MIN = 8, SECRETS_GROWTH = 6 };

struct secrets {
	char **needles;             /* in the order of strcmp: a text is looked up in them */
	size_t count, longest;      /* longest: of what they are found as */
	bool begins[UCHAR_MAX + 1]; /* by byte: whether one of them may begin with it */
};

/* Looks for `secret` from now on. Shorter ones than SECRETS_BYTES_MIN are ignored: they would match
 * everywhere. -1: out of memory. */
int secrets_add(struct secrets *secrets, const char *secret);
/* Wipes and releases. */
void secrets_done(struct secrets *secrets);
/* How many bytes at `text` are a secret; 0: they begin none. The longest: where one begins like
 * another, the rest of it is secret as well. */
size_t secrets_match(const struct secrets *secrets, const char *text, size_t len);
/* Where what begins in text[from, to) ends, if that is behind `to`. */
size_t secrets_end(
	const struct secrets *secrets, const char *text, size_t len, size_t from, size_t to);
#endif
