#include "broker/parse/pin.h"

#include "broker/parse/client_hello.h"
#include "broker/parse/cursor.h"
#include "broker/parse/refusal.h"
#include <string.h>
#include <strings.h>

enum {
	RECORD_CHANGE_CIPHER = 20,
	RECORD_HANDSHAKE = 22,
	RECORD_DATA = 23,
	RECORD_HEADER_BYTES = 5,
	HANDSHAKE_SERVER_HELLO = 2,
	REPLY_RANDOM_AT = 11,
};

/* RFC 8446 4.1.3: the random that makes a ServerHello a HelloRetryRequest. */
static const unsigned char retry_random[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe,
	0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
	0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

void pin_init(struct pin *p, const struct endpoint *endpoint)
{
	*p = (struct pin){.endpoint = endpoint};
	p->state = endpoint->sniffed ? PIN_SNIFF : endpoint->tls ? PIN_HELLO : PIN_HTTP;
	http_host_init(&p->http);
}

/* A client sends no name for a server that is written as an address (RFC 6066 section 3). */
static bool hello_fits(const struct client_hello *hello, const struct endpoint *endpoint)
{
	bool named = hello->name_count == 1 && strcasecmp(endpoint->host, hello->server_name) == 0;
	return !hello->encrypted && (named || (hello->name_count == 0 && endpoint->is_address));
}

static const char *take_hello(struct pin *p, const char *bytes, size_t len, size_t *passed)
{
	struct client_hello hello;
	enum hello_answer answer = client_hello_decode((const uint8_t *)bytes, len, &hello);
	if (answer != HELLO_WHOLE)
		return answer == HELLO_BAD ? REFUSED_HELLO : NULL;
	if (!hello_fits(&hello, p->endpoint))
		return REFUSED_SNI;
	p->state = p->state == PIN_HELLO ? PIN_REPLY : PIN_OPEN;
	*passed += hello.bytes;
	return NULL;
}

/* Between the hello and the server's answer an honest client sends early data at most. A second
 * hello sent ahead would be read by a server that retries, so handshake records wait. What is no
 * TLS record passes: no TLS server reads on behind it. */
static const char *take_records(struct pin *p, const char *bytes, size_t len, size_t *passed)
{
	while (*passed < len && p->state != PIN_OPEN) {
		struct cursor c = {
			(const uint8_t *)bytes + *passed, (const uint8_t *)bytes + len, 0};
		size_t left = cursor_left(&c);
		if (p->record_left == 0) {
			size_t type = cursor_number(&c, 1), major = left > 1 ? c.at[0] : 3;
			if (type < RECORD_CHANGE_CIPHER || type > RECORD_DATA || major != 3)
				p->state = PIN_OPEN;
			else if (type == RECORD_HANDSHAKE && p->state == PIN_SECOND)
				return take_hello(p, bytes + *passed, left, passed);
			else if (type == RECORD_HANDSHAKE || left < RECORD_HEADER_BYTES)
				return NULL;
			cursor_number(&c, 2);
			p->record_left = RECORD_HEADER_BYTES + cursor_number(&c, 2);
		}
		size_t here = left < p->record_left ? left : p->record_left;
		p->record_left -= here;
		*passed += here;
	}
	return NULL;
}

const char *pin_take(struct pin *p, const char *bytes, size_t len, size_t *passed)
{
	const char *refused = NULL;
	*passed = 0;
	if (p->state == PIN_HTTP)
		return http_host_take(&p->http, p->endpoint, bytes, len, passed) < 0 ? REFUSED_HOST
										     : NULL;
	if (p->state == PIN_SNIFF)
		p->state = bytes[0] == RECORD_HANDSHAKE ? PIN_HELLO : PIN_OPEN;
	if (p->state == PIN_HELLO)
		refused = take_hello(p, bytes, len, passed);
	if (p->state == PIN_REPLY || p->state == PIN_SECOND)
		refused = take_records(p, bytes, len, passed);
	if (p->state == PIN_OPEN)
		*passed = len;
	return refused;
}

size_t pin_unseen(const struct pin *p)
{
	if (p->state == PIN_HTTP && p->http.state == HTTP_BODY)
		return p->http.body_left;
	return p->state == PIN_OPEN || (p->state == PIN_HTTP && p->http.state == HTTP_OPAQUE)
		       ? SIZE_MAX
		       : 0;
}

void pin_reply(struct pin *p, const char *bytes, size_t len)
{
	if (p->state != PIN_REPLY)
		return;
	size_t want = PIN_REPLY_BYTES - p->reply_len, here = len < want ? len : want;
	memcpy(p->reply + p->reply_len, bytes, here);
	p->reply_len += here;
	if (p->reply[0] == RECORD_HANDSHAKE && p->reply_len < PIN_REPLY_BYTES)
		return;
	bool retry = p->reply[0] == RECORD_HANDSHAKE &&
		     p->reply[RECORD_HEADER_BYTES] == HANDSHAKE_SERVER_HELLO &&
		     memcmp(p->reply + REPLY_RANDOM_AT, retry_random, sizeof(retry_random)) == 0;
	p->state = retry ? PIN_SECOND : PIN_OPEN;
}

bool pin_holds_all(const struct pin *p)
{
	return p->state == PIN_HELLO || (p->state == PIN_HTTP && p->http.state == HTTP_FIRST);
}

bool pin_wants_more(const struct pin *p)
{
	return p->state == PIN_HELLO || p->state == PIN_SECOND || p->state == PIN_HTTP;
}

const char *pin_unfinished(const struct pin *p)
{
	return p->state == PIN_HTTP ? REFUSED_HOST : REFUSED_HELLO;
}
