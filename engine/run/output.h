/*
 * Captured output of a command: all of it, or its head and tail with the number of bytes left out
 * between them. Memory is bounded by twice the cap; the command is never blocked.
 */
#ifndef RUN_OUTPUT_H
#define RUN_OUTPUT_H
#include "base/sha256.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct output {
	char *bytes;
	size_t len, cap_bytes;
	uint64_t total, dropped; /* dropped: between the first cap/2 bytes and the rest */
	struct sha256 hash;      /* of everything, kept or not */
	bool no_memory;
};

void output_init(struct output *c, size_t cap_bytes);
void output_done(struct output *c);
/* `ctx` is the capture: a pump's taker. */
void output_take(void *ctx, const char *bytes, size_t len);
/* Ends the capture: trims to the cap. */
void output_close(struct output *c);

/* After output_close: takes every occurrence of `secret` out, and what may be part of one beside
 * the bytes that were left out. */
void output_redact(struct output *c, const char *secret);

/* Bytes as a JSON string: what is not UTF-8, and NUL, becomes U+FFFD. *clean: nothing was replaced.
 */
json_t *output_text(const char *bytes, size_t len, bool *clean);
/* The last `most` bytes, from a character's start. */
json_t *output_tail(const struct output *c, size_t most);
/* Adds stdout (and stdout_dropped, stdout_sha256, not_utf8 where they apply) to a fact. */
void output_fact(struct output *c, json_t *fact);
#endif
