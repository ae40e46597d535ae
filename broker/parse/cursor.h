/*
 * A cursor over untrusted bytes: it reads in network order and never past their end.
 */
#ifndef BROKER_PARSE_CURSOR_H
#define BROKER_PARSE_CURSOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *at, *end;
	bool bad; /* something ran past the end; sticky */
};

static inline struct cursor cursor_over(const void *bytes, size_t len)
{
	return (struct cursor){bytes, (const uint8_t *)bytes + len, false};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* Returns the next `count` bytes; NULL once the cursor is bad. */
static inline const uint8_t *cursor_take(struct cursor *cursor, size_t count)
{
	cursor->bad |= cursor_left(cursor) < count;
	if (cursor->bad)
		return NULL;
	cursor->at += count;
	return cursor->at - count;
}

static inline size_t cursor_number(struct cursor *cursor, size_t bytes)
{
	const uint8_t *from = cursor_take(cursor, bytes);
	size_t value = 0;
	for (size_t i = 0; from && i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

/* Returns a vector that follows its length of `length_bytes`; empty once the cursor is bad. */
static inline struct cursor cursor_vector(struct cursor *cursor, size_t length_bytes)
{
	size_t count = cursor_number(cursor, length_bytes);
	const uint8_t *from = cursor_take(cursor, count);
	return (struct cursor){from, from ? from + count : NULL, cursor->bad};
}
#endif
