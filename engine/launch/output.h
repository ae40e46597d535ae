/*
 * Captured output of a command: all of it, or its head and tail with the number of bytes left out
 * between them. Memory is bounded by twice the cap; the command is never blocked.
 */
#ifndef LAUNCH_OUTPUT_H
#define LAUNCH_OUTPUT_H
#include "base/secrets.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output {
	char *bytes; /* owned; NULL: none came */
	size_t len, cap_bytes;
	uint64_t total, dropped; /* dropped: between the first `head` bytes and the rest */
	size_t head;             /* once it is closed; all of them where nothing was dropped */
	bool no_memory;
};

void output_init(struct output *output, size_t cap_bytes);
void output_done(struct output *output);
/* `ctx` is the capture: a pump's taker. */
void output_take(void *ctx, const char *bytes, size_t len);
/* Ends the capture: trims to the cap. */
void output_close(struct output *output);

/* After output_close: [REDACTED:key] for each of the secrets, however it is encoded. What may be
 * part of one beside the bytes that were left out is left out as well; so is all of it where there
 * is no memory, or the secrets are NULL. */
void output_redact(struct output *output, const struct secrets *secrets);
#endif
