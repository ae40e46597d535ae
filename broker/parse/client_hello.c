#include "broker/parse/client_hello.h"

#include "broker/parse/cursor.h"
#include <string.h>

enum { HANDSHAKE_CLIENT_HELLO = 1, HANDSHAKE_HEADER_BYTES = 4 };
enum { EXTENSION_SERVER_NAME = 0, NAME_TYPE_HOST = 0 };

/* Reports whether the extension is encrypted_client_hello, as registered or in its drafts, or the
 * older encrypted_server_name. */
static bool hides_a_name(size_t extension)
{
	return (extension >= 0xfe08 && extension <= 0xfe0d) || extension == 0xff02 ||
	       extension == 0xffce;
}

static bool decode_names(struct cursor extension, struct client_hello *out)
{
	struct cursor list = cursor_vector(&extension, 2);
	if (cursor_left(&extension) > 0 || cursor_left(&list) == 0)
		return false;
	while (cursor_left(&list) > 0) {
		size_t type = cursor_number(&list, 1);
		struct cursor name = cursor_vector(&list, 2);
		size_t len = cursor_left(&name);
		if (len == 0 || len >= sizeof(out->server_name) || memchr(name.at, '\0', len))
			return false;
		if (out->name_count++ == 0 && type == NAME_TYPE_HOST)
			memcpy(out->server_name, name.at, len);
	}
	return true;
}

static bool decode_extensions(struct cursor *body, struct client_hello *out)
{
	if (cursor_left(body) == 0) /* TLS 1.2 without extensions */
		return true;
	struct cursor all = cursor_vector(body, 2);
	while (cursor_left(&all) > 0) {
		size_t type = cursor_number(&all, 2);
		struct cursor extension = cursor_vector(&all, 2);
		if (all.bad || (type == EXTENSION_SERVER_NAME && !decode_names(extension, out)))
			return false;
		out->encrypted |= hides_a_name(type);
	}
	return !body->bad && cursor_left(body) == 0;
}

static bool decode_message(struct cursor body, struct client_hello *out)
{
	size_t version = cursor_number(&body, 2);
	cursor_take(&body, 32); /* random */
	struct cursor session = cursor_vector(&body, 1);
	struct cursor ciphers = cursor_vector(&body, 2);
	struct cursor compressions = cursor_vector(&body, 1);
	if (body.bad || version >> 8 != 3 || cursor_left(&session) > 32)
		return false;
	return cursor_left(&ciphers) >= 2 && cursor_left(&ciphers) % 2 == 0 &&
	       cursor_left(&compressions) >= 1 && decode_extensions(&body, out);
}

/* Joins the records' payloads into `message` until it is whole, and finds its body. Refuses another
 * message in the hello's last record, since no server could have asked for it. */
static enum hello_answer join_records(struct cursor *cursor, uint8_t *message, struct cursor *body)
{
	size_t have = 0, want = HANDSHAKE_HEADER_BYTES;
	while (have < want) {
		if (cursor_left(cursor) > 0 && cursor->at[0] != RECORD_HANDSHAKE)
			return HELLO_BAD;
		if (cursor_left(cursor) < RECORD_HEADER_BYTES)
			return HELLO_MORE;
		size_t major = cursor_number(cursor, 2) & 0xff,
		       count = cursor_number(cursor, 3) & 0xffff;
		if (major != 3 || count == 0 || have + count > CLIENT_HELLO_MAX_BYTES)
			return HELLO_BAD;
		size_t here = cursor_left(cursor) < count ? cursor_left(cursor) : count;
		memcpy(message + have, cursor_take(cursor, here), here);
		have += here;
		*body = cursor_over(message, have);
		if (have > 0 && cursor_number(body, 1) != HANDSHAKE_CLIENT_HELLO)
			return HELLO_BAD;
		if (have >= HANDSHAKE_HEADER_BYTES)
			want = HANDSHAKE_HEADER_BYTES + cursor_number(body, 3);
		if (want > CLIENT_HELLO_MAX_BYTES)
			return HELLO_BAD;
		if (here < count)
			return HELLO_MORE;
	}
	return have == want ? HELLO_WHOLE : HELLO_BAD;
}

enum hello_answer client_hello_decode(const uint8_t *bytes, size_t len, struct client_hello *out)
{
	uint8_t message[CLIENT_HELLO_MAX_BYTES];
	struct cursor c = cursor_over(bytes, len), body;
	enum hello_answer answer = join_records(&c, message, &body);
	*out = (struct client_hello){.bytes = (size_t)(c.at - bytes)};
	if (answer == HELLO_MORE && len < CLIENT_HELLO_MAX_BYTES)
		return HELLO_MORE;
	bool fits = answer == HELLO_WHOLE && out->bytes <= CLIENT_HELLO_MAX_BYTES;
	return fits && decode_message(body, out) ? HELLO_WHOLE : HELLO_BAD;
}
