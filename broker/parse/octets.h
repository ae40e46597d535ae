/*
 * Untrusted bytes that are still to be read, in network order and never past their end.
 */
#ifndef BROKER_PARSE_OCTETS_H
#define BROKER_PARSE_OCTETS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct octets {
	const uint8_t *at, *end;
	bool bad; /* something ran past the end; sticky */
};

static inline struct octets octets_over(const void *bytes, size_t len)
{
	return (struct octets){bytes, (const uint8_t *)bytes + len, false};
}

static inline size_t octets_left(const struct octets *octets)
{
	return (size_t)(octets->end - octets->at);
}

/* Returns the next `count` bytes; NULL once something ran past the end. */
static inline const uint8_t *octets_take(struct octets *octets, size_t count)
{
	octets->bad |= octets_left(octets) < count;
	if (octets->bad)
		return NULL;
	octets->at += count;
	return octets->at - count;
}

static inline size_t octets_number(struct octets *octets, size_t bytes)
{
	const uint8_t *from = octets_take(octets, bytes);
	size_t value = 0;
	for (size_t i = 0; from && i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

/* Returns a vector that follows its length of `length_bytes`; empty once something ran past the
 * end. */
static inline struct octets octets_vector(struct octets *octets, size_t length_bytes)
{
	size_t count = octets_number(octets, length_bytes);
	const uint8_t *from = octets_take(octets, count);
	return (struct octets){from, from ? from + count : NULL, octets->bad};
}
#endif
