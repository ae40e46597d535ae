/*
 * ClientHello messages for tests, built up from their parts.
 */
#ifndef TESTS_UNIT_HELLO_BYTES_H
#define TESTS_UNIT_HELLO_BYTES_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hello_bytes {
	uint8_t data[128 * 1024];
	size_t len;
};

static inline void put(struct hello_bytes *h, size_t value, size_t bytes)
{
	while (bytes-- > 0)
		h->data[h->len++] = (uint8_t)(value >> (8 * bytes));
}

static inline void put_bytes(struct hello_bytes *h, const void *bytes, size_t len)
{
	memcpy(h->data + h->len, bytes, len);
	h->len += len;
}

/* An extension with `len` bytes of content. */
static inline void put_extension(
	struct hello_bytes *bytes, size_t type, const void *content, size_t len)
{
	put(bytes, type, 2);
	put(bytes, len, 2);
	put_bytes(bytes, content, len);
}

/* server_name with `count` names. */
static inline void put_names(struct hello_bytes *bytes, const char *const *names, size_t count)
{
	size_t total = 0;
	for (size_t i = 0; i < count; i++)
		total += 3 + strlen(names[i]);
	put(bytes, 0, 2);
	put(bytes, total + 2, 2);
	put(bytes, total, 2);
	for (size_t i = 0; i < count; i++) {
		put(bytes, 0, 1);
		put(bytes, strlen(names[i]), 2);
		put_bytes(bytes, names[i], strlen(names[i]));
	}
}

static inline void put_name(struct hello_bytes *bytes, const char *name)
{
	put_names(bytes, &name, 1);
}

/* The handshake message around `extensions`. */
static inline void put_message(struct hello_bytes *bytes, const struct hello_bytes *extensions)
{
	size_t body = 2 + 32 + 1 + 32 + 2 + 4 + 2 + 2 + extensions->len;
	put(bytes, 1, 1);
	put(bytes, body, 3);
	put(bytes, 0x0303, 2);
	for (unsigned i = 0; i < 32; i++)
		put(bytes, i, 1);
	put(bytes, 32, 1);
	for (unsigned i = 0; i < 32; i++)
		put(bytes, i, 1);
	put(bytes, 4, 2);
	put(bytes, 0x8a8a, 2); /* a GREASE cipher */
	put(bytes, 0x1301, 2);
	put(bytes, 0x0100, 2);
	put(bytes, extensions->len, 2);
	put_bytes(bytes, extensions->data, extensions->len);
}

/* `message` in records of at most `record_bytes` each. */
static inline void put_records(
	struct hello_bytes *bytes, const struct hello_bytes *message, size_t record_bytes)
{
	for (size_t at = 0; at < message->len; at += record_bytes) {
		size_t here = message->len - at < record_bytes ? message->len - at : record_bytes;
		put(bytes, 22, 1);
		put(bytes, 0x0301, 2);
		put(bytes, here, 2);
		put_bytes(bytes, message->data + at, here);
	}
}

/* A whole hello for `name` in one record. */
static inline struct hello_bytes hello_for(const char *name)
{
	struct hello_bytes extensions = {.len = 0}, message = {.len = 0}, out = {.len = 0};
	put_extension(&extensions, 0x1a1a, "", 0); /* a GREASE extension */
	if (name)
		put_name(&extensions, name);
	put_extension(&extensions, 43, "\x04\x7a\x7a\x03\x04", 5);
	put_message(&message, &extensions);
	put_records(&out, &message, 16384);
	return out;
}
#endif
