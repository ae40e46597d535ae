#include "broker/parse/client_hello.h"

#include <string.h>

enum {
	RECORD_HANDSHAKE = 22,
	RECORD_MAX_BYTES = 16384,
	RECORD_HEADER_BYTES = 5,
	HANDSHAKE_CLIENT_HELLO = 1,
	HANDSHAKE_HEADER_BYTES = 4,
	EXTENSION_SERVER_NAME = 0,
	NAME_TYPE_HOST = 0,
};

/* The registered encrypted_client_hello, its drafts, and the older encrypted_server_name. */
static const uint16_t hiding_extensions[] = {
	0xfe0d, 0xfe0c, 0xfe0b, 0xfe0a, 0xfe09, 0xfe08, 0xff02, 0xffce};

struct cursor {
	const uint8_t *at, *end;
	bool bad; /* something ran past the end; sticky */
};

static size_t left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static const uint8_t *take(struct cursor *c, size_t count)
{
	const uint8_t *from = c->at;
	if (c->bad || left(c) < count) {
		c->bad = true;
		return NULL;
	}
	c->at += count;
	return from;
}

static size_t take_number(struct cursor *c, size_t bytes)
{
	const uint8_t *from = take(c, bytes);
	size_t value = 0;
	for (size_t i = 0; from && i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

/* A vector behind its length of `length_bytes`. */
static struct cursor take_vector(struct cursor *c, size_t length_bytes)
{
	size_t count = take_number(c, length_bytes);
	const uint8_t *from = take(c, count);
	return from ? (struct cursor){from, from + count, false} : (struct cursor){.bad = true};
}

static bool decode_names(struct cursor extension, struct client_hello *out)
{
	struct cursor list = take_vector(&extension, 2);
	if (extension.bad || left(&extension) > 0 || left(&list) == 0)
		return false;
	while (left(&list) > 0) {
		size_t type = take_number(&list, 1);
		struct cursor name = take_vector(&list, 2);
		size_t len = name.bad ? 0 : left(&name);
		if (list.bad || len == 0 || len >= sizeof(out->server_name) ||
			memchr(name.at, '\0', len))
			return false;
		if (out->name_count++ == 0 && type == NAME_TYPE_HOST) {
			memcpy(out->server_name, name.at, len);
			out->server_name[len] = '\0';
		}
	}
	return true;
}

static bool decode_extensions(struct cursor *body, struct client_hello *out)
{
	if (left(body) == 0) /* TLS 1.2 without any */
		return true;
	struct cursor all = take_vector(body, 2);
	if (body->bad || left(body) > 0)
		return false;
	while (left(&all) > 0) {
		size_t type = take_number(&all, 2);
		struct cursor extension = take_vector(&all, 2);
		if (all.bad)
			return false;
		if (type == EXTENSION_SERVER_NAME && !decode_names(extension, out))
			return false;
		for (size_t i = 0; i < sizeof(hiding_extensions) / sizeof(hiding_extensions[0]);
			i++)
			out->encrypted |= type == hiding_extensions[i];
	}
	return true;
}

static bool decode_message(struct cursor body, struct client_hello *out)
{
	size_t version = take_number(&body, 2);
	take(&body, 32); /* random */
	struct cursor session = take_vector(&body, 1);
	struct cursor ciphers = take_vector(&body, 2);
	struct cursor compressions = take_vector(&body, 1);
	if (body.bad || version >> 8 != 3 || left(&session) > 32)
		return false;
	if (left(&ciphers) < 2 || left(&ciphers) % 2 != 0 || left(&compressions) < 1)
		return false;
	return decode_extensions(&body, out);
}

/* Joins the records' payloads into `message` until the handshake message is whole. */
static enum hello_answer join_records(struct cursor *c, uint8_t *message, size_t *message_len)
{
	size_t have = 0, want = HANDSHAKE_HEADER_BYTES;
	while (have < want) {
		if (left(c) < RECORD_HEADER_BYTES) /* what is there must already look right */
			return (left(c) > 0 && c->at[0] != RECORD_HANDSHAKE) ||
					       (left(c) > 1 && c->at[1] != 3)
				       ? HELLO_BAD
				       : HELLO_MORE;
		size_t type = take_number(c, 1), version = take_number(c, 2);
		size_t count = take_number(c, 2);
		if (type != RECORD_HANDSHAKE || version >> 8 != 3 || count == 0 ||
			count > RECORD_MAX_BYTES || have + count > CLIENT_HELLO_MAX_BYTES)
			return HELLO_BAD;
		size_t here = left(c) < count ? left(c) : count;
		memcpy(message + have, take(c, here), here);
		have += here;
		if (have >= 1 && message[0] != HANDSHAKE_CLIENT_HELLO)
			return HELLO_BAD;
		if (have >= HANDSHAKE_HEADER_BYTES)
			want = HANDSHAKE_HEADER_BYTES +
			       ((size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3]);
		if (want > CLIENT_HELLO_MAX_BYTES)
			return HELLO_BAD;
		if (here < count)
			return HELLO_MORE;
	}
	/* Another message in the hello's last record is one that no server could have asked for. */
	*message_len = want;
	return have == want ? HELLO_WHOLE : HELLO_BAD;
}

enum hello_answer client_hello_decode(const uint8_t *bytes, size_t len, struct client_hello *out)
{
	uint8_t message[CLIENT_HELLO_MAX_BYTES];
	struct cursor c = {bytes, bytes + len, false};
	struct client_hello found = {.name_count = 0};
	size_t message_len;
	enum hello_answer answer = join_records(&c, message, &message_len);
	if (answer == HELLO_MORE)
		return len < CLIENT_HELLO_MAX_BYTES ? HELLO_MORE : HELLO_BAD;
	found.bytes = (size_t)(c.at - bytes);
	if (answer == HELLO_BAD || found.bytes > CLIENT_HELLO_MAX_BYTES)
		return HELLO_BAD;
	struct cursor body = {message + HANDSHAKE_HEADER_BYTES, message + message_len, false};
	if (!decode_message(body, &found))
		return HELLO_BAD;
	*out = found;
	return HELLO_WHOLE;
}
