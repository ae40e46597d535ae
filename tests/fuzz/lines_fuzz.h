/*
 * A fuzz target whose input is a number of lines, each taken by itself.
 */
#ifndef TESTS_LINES_FUZZ_H
#define TESTS_LINES_FUZZ_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void lines_each(
	const uint8_t *data, size_t len, void (*take)(const char *line, size_t len))
{
	const char *at = (const char *)data, *end = at + len;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);
		take(at, n);
		at += n + (newline != NULL);
	}
}
#endif
