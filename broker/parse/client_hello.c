#include "broker/parse/client_hello.h"

#include "broker/parse/octets.h"
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

static bool decode_names(struct octets extension, struct client_hello *out)
{
	struct octets list = octets_vector(&extension, 2);
	if (octets_left(&extension) > 0 || octets_left(&list) == 0)
		return false;
	while (octets_left(&list) > 0) {
		size_t type = octets_number(&list, 1);
		struct octets name = octets_vector(&list, 2);
		size_t len = octets_left(&name);
		if (len == 0 || len >= sizeof(out->server_name) || memchr(name.at, '\0', len))
			return false;
		if (out->name_count++ == 0 && type == NAME_TYPE_HOST)
			memcpy(out->server_name, name.at, len);
	}
	return true;
}

static bool decode_extensions(struct octets *body, struct client_hello *out)
{
	if (octets_left(body) == 0) /* TLS 1.2 without extensions */
		return true;
	struct octets all = octets_vector(body, 2);
	while (octets_left(&all) > 0) {
		size_t type = octets_number(&all, 2);
		struct octets extension = octets_vector(&all, 2);
		if (all.bad || (type == EXTENSION_SERVER_NAME && !decode_names(extension, out)))
			return false;
		out->encrypted |= hides_a_name(type);
	}
	return !body->bad && octets_left(body) == 0;
}

static bool decode_message(struct octets body, struct client_hello *out)
{
	size_t version = octets_number(&body, 2);
	octets_take(&body, 32); /* random */
	struct octets session = octets_vector(&body, 1);
	struct octets ciphers = octets_vector(&body, 2);
	struct octets compressions = octets_vector(&body, 1);
	if (body.bad || version >> 8 != 3 || octets_left(&session) > 32)
		return false;
	return octets_left(&ciphers) >= 2 && octets_left(&ciphers) % 2 == 0 &&
	       octets_left(&compressions) >= 1 && decode_extensions(&body, out);
}

/* Joins the records' payloads into `message` until it is whole, and finds its body. Refuses another
 * message in the hello's last record, since no server could have asked for it. */
static enum hello_answer join_records(struct octets *octets, uint8_t *message, struct octets *body)
{
	size_t have = 0, want = HANDSHAKE_HEADER_BYTES;
	while (have < want) {
		if (octets_left(octets) > 0 && octets->at[0] != RECORD_HANDSHAKE)
			return HELLO_BAD;
		if (octets_left(octets) < RECORD_HEADER_BYTES)
			return HELLO_MORE;
		size_t major = octets_number(octets, 2) & 0xff,
		       count = octets_number(octets, 3) & 0xffff;
		if (major != 3 || count == 0 || have + count > CLIENT_HELLO_MAX_BYTES)
			return HELLO_BAD;
		size_t here = octets_left(octets) < count ? octets_left(octets) : count;
		memcpy(message + have, octets_take(octets, here), here);
		have += here;
		*body = octets_over(message, have);
		if (have > 0 && octets_number(body, 1) != HANDSHAKE_CLIENT_HELLO)
			return HELLO_BAD;
		if (have >= HANDSHAKE_HEADER_BYTES)
			want = HANDSHAKE_HEADER_BYTES + octets_number(body, 3);
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
	struct octets c = octets_over(bytes, len), body;
	enum hello_answer answer = join_records(&c, message, &body);
	*out = (struct client_hello){.bytes = (size_t)(c.at - bytes)};
	if (answer == HELLO_MORE && len < CLIENT_HELLO_MAX_BYTES)
		return HELLO_MORE;
	bool fits = answer == HELLO_WHOLE && out->bytes <= CLIENT_HELLO_MAX_BYTES;
	return fits && decode_message(body, out) ? HELLO_WHOLE : HELLO_BAD;
}
