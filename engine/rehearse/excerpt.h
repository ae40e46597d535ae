/*
 * The parts of two long texts around the place from which they differ, for messages.
 */
#ifndef REHEARSE_EXCERPT_H
#define REHEARSE_EXCERPT_H
#include <stdbool.h>
#include <stddef.h>

enum { EXCERPT_BYTES = 2560 };

/* Returns the length of the longest beginning of `wanted` that stands somewhere in `got`; `*end`
 * receives the place behind it there. Linear in both lengths. */
size_t excerpt_longest(const char *wanted, const char *got, size_t *end);
/* Returns the length of the common beginning of two texts, in whole characters. */
size_t excerpt_common(const char *left, const char *right);
/* Writes up to 400 bytes of `text` around the place `at`, in quotes as in JSON if `quoted`, with
 * "..." where it is cut. */
void excerpt_show(const char *text, size_t at, bool quoted, char out[EXCERPT_BYTES]);
#endif
