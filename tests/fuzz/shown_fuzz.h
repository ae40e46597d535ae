/* Properties of everything that people are shown, whoever wrote its parts. */
#ifndef TESTS_FUZZ_SHOWN_FUZZ_H
#define TESTS_FUZZ_SHOWN_FUZZ_H
#include "base/utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void shown_require(bool held)
{
	if (!held)
		abort();
}

/* UTF-8, and nothing in it that a terminal would act on. */
static inline void shown_text(const char *text, size_t len)
{
	for (size_t at = 0, step; at < len; at += step) {
		uint32_t code = 0;
		step = utf8_step(text + at, len - at, &code);
		shown_require(step && (code == '\n' || !utf8_is_odd(code)));
	}
}

/* Captures the output of `print` to standard output and standard error, and checks it. */
static inline void shown_printed(void (*print)(const void *what), const void *what)
{
	static char *text;
	static size_t len;
	static FILE *memory;
	FILE *real = stdout, *real_error = stderr;
	if (!memory)
		memory = open_memstream(&text, &len);
	shown_require(memory && !fseeko(memory, 0, SEEK_SET));
	stdout = stderr = memory;
	print(what);
	stdout = real;
	stderr = real_error;
	shown_require(!fflush(memory));
	shown_text(text, len);
}

/* Checks our own markup: each `<` begins a tag, no quote in a tag stays open, and each tag is
 * closed. */
static inline void shown_page(const char *text)
{
	const char *page = strstr(text, "</style>");
	int depth = 3; /* html, head, style */
	for (shown_require(page); (page = strchr(page, '<')); page++) {
		bool closes = page[1] == '/', quoted = false;
		page += 1 + closes;
		shown_require(*page >= 'a' && *page <= 'z');
		for (; *page != '>' || quoted; page++) {
			shown_require(*page && *page != '<');
			quoted ^= *page == '"';
		}
		depth += closes ? -1 : page[-1] == '/' ? 0 : 1;
	}
	shown_require(!depth);
}
#endif
