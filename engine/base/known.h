/*
 * Secrets that are known, found in a text in every usual encoding: as they are, JSON-escaped or
 * percent-encoded in any part and up to twice, in hex, and in base64 at every alignment.
 */
#ifndef BASE_KNOWN_H
#define BASE_KNOWN_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A letter takes so many bytes at most: \u002b. */
enum { KNOWN_BYTES_MIN = 8, KNOWN_GROWTH = 6 };

struct known {
	char **needles;
	size_t count, longest;      /* longest: of what they are found as */
	bool begins[UCHAR_MAX + 1]; /* by byte: whether one of them may begin with it */
};

/* Looks for `secret` from now on. Shorter ones than KNOWN_BYTES_MIN are ignored: they would match
 * everywhere. -1: out of memory. */
int known_add(struct known *k, const char *secret);
/* Wipes and releases. */
void known_done(struct known *k);
/* How many bytes at `text` are a secret; 0: they begin none. The longest: where one begins like
 * another, the rest of it is secret as well. */
size_t known_match(const struct known *k, const char *text, size_t len);
/* Where what begins in text[from, to) ends, if that is behind `to`. */
size_t known_end(const struct known *k, const char *text, size_t len, size_t from, size_t to);
#endif
