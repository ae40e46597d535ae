/*
 * What a command prints: its beginning and its end kept, the middle counted, never a blocked
 * writer.
 */
#ifndef TOOLS_CAPTURE_H
#define TOOLS_CAPTURE_H
#include "base/buf.h"
#include <stdint.h>

enum { CAPTURE_HEAD_BYTES = 64 * 1024, CAPTURE_TAIL_BYTES = 64 * 1024 };

struct capture {
	struct buf head;
	char *tail; /* a ring of CAPTURE_TAIL_BYTES */
	uint64_t total_bytes;
};

int capture_init(struct capture *c);
void capture_done(struct capture *c);
void capture_add(struct capture *c, const char *bytes, size_t len);
/* Appends the kept bytes as clean UTF-8 text; a line in the middle says how much was dropped. */
void capture_text(const struct capture *c, struct buf *out);
#endif
