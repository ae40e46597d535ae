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
	char *bytes; /* owned; NULL: no output came */
	size_t len, cap_bytes;
	uint64_t total, dropped; /* dropped: bytes between the first `head` ones and the rest */
	size_t head;             /* valid once closed; all bytes if none was dropped */
	bool no_memory;
};

void output_init(struct output *output, size_t cap_bytes);
void output_done(struct output *output);
/* Takes bytes: the taker of a pump's stream. `ctx` is the output. */
void output_take(void *ctx, const char *bytes, size_t len);
/* Ends the capture and trims it to the cap. */
void output_close(struct output *output);

/* Replaces each of the secrets with [REDACTED:key], however it is encoded; call it after
 * output_close. A possible part of a secret next to dropped bytes is dropped as well. Without
 * memory, or if the secrets are NULL, all of the output is dropped. */
void output_redact(struct output *output, const struct secrets *secrets);
#endif
