/*
 * A growable byte buffer with a mandatory limit.
 *
 * `data` is NUL-terminated after every successful call (the NUL is not counted in `len`). The data
 * of a new buffer is a shared empty text, which must not be written. Crossing `cap_bytes` or
 * running out of memory sets `failed`, and every later append is a no-op, so a chain of appends
 * needs one check at its end.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H
#include "base/cleanup.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data;
	size_t len, size, cap_bytes;
	bool failed;
};

extern const char buf_nothing[1];

#define BUF_INIT(cap)                                                                              \
	(struct buf)                                                                               \
	{                                                                                          \
		.data = (char *)(uintptr_t)buf_nothing, .cap_bytes = (cap)                         \
	}
#define AUTO_BUF __attribute__((cleanup(buf_done))) struct buf

void buf_init(struct buf *buf, size_t cap_bytes);
void buf_done(struct buf *buf);
/* Empties the buffer without releasing it; clears `failed`. */
void buf_clear(struct buf *buf);
/* Return 0, or -1 once the buffer has failed. */
int buf_add(struct buf *buf, const void *bytes, size_t len);
int buf_adds(struct buf *buf, const char *text);
int buf_addc(struct buf *buf, char c);
int buf_addf(struct buf *buf, const char *format, ...) PRINTF(2, 3);
/* Drops the first `len` bytes. */
void buf_drop(struct buf *buf, size_t len);
/* Returns the bytes (heap, NUL-terminated; never NULL unless failed) and empties the buffer. */
char *buf_take(struct buf *buf, size_t *len);
#endif
