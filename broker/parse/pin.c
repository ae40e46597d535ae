#include "broker/parse/pin.h"

#include "broker/parse/client_hello.h"
#include "broker/parse/cursor.h"
#include <string.h>
#include <strings.h>

enum { RECORD_CHANGE_CIPHER = 20, RECORD_DATA = 23, REPLY_RANDOM_AT = 11 };

/* RFC 8446 4.1.3: the random that makes a ServerHello a HelloRetryRequest. */
static const unsigned char retry_random[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe,
	0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
	0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

void pin_init(struct pin *p, const struct endpoint *endpoint)
{
	*p = (struct pin){.endpoint = endpoint, .line.asks = true};
	p->state = endpoint->sniffed ? PIN_SNIFF : endpoint->tls ? PIN_HELLO : PIN_HEAD;
}

/* Each step returns how many bytes it passes; 0: it needs more, or has refused. */

/* A client sends no name for a server that is written as an address (RFC 6066 section 3). */
static size_t take_hello(struct pin *p, const char *bytes, size_t len)
{
	struct client_hello hello = {.bytes = 0};
	enum hello_answer answer = client_hello_decode((const uint8_t *)bytes, len, &hello);
	bool named = hello.name_count == 1 && !strcasecmp(p->endpoint->at.host, hello.server_name);
	if (answer == HELLO_BAD)
		p->refused = REFUSED_HELLO;
	if (answer != HELLO_WHOLE)
		return 0;
	if (hello.encrypted ||
		!(named || (hello.name_count == 0 && p->endpoint->at.address.family))) {
		p->refused = REFUSED_SNI;
		return 0;
	}
	p->state = p->state == PIN_HELLO ? PIN_REPLY : PIN_OPEN;
	return hello.bytes;
}

/* Between the hello and the server's answer an honest client sends early data at most. A second
 * hello sent ahead would be read by a server that retries, so handshake records wait. What is no
 * TLS record passes: no TLS server reads on behind it. */
static size_t take_record(struct pin *p, const char *bytes, size_t len)
{
	struct cursor c = cursor_over(bytes, len);
	size_t type = cursor_number(&c, 1), major = cursor_number(&c, 1);
	if (type < RECORD_CHANGE_CIPHER || type > RECORD_DATA || (!c.bad && major != 3)) {
		p->state = PIN_OPEN;
		return len;
	}
	if (type == RECORD_HANDSHAKE)
		return p->state == PIN_SECOND ? take_hello(p, bytes, len) : 0;
	cursor_number(&c, 1);
	p->passing = cursor_number(&c, 2);
	return c.bad ? 0 : RECORD_HEADER_BYTES;
}

static size_t (*const steps[])(struct pin *p, const char *bytes, size_t len) = {
	[PIN_HELLO] = take_hello,
	[PIN_REPLY] = take_record,
	[PIN_SECOND] = take_record,
	[PIN_HEAD] = http_take_head,
	[PIN_LINE] = http_take_line,
	[PIN_NEXT_HEAD] = http_take_head,
};

size_t pin_take(struct pin *p, const char *bytes, size_t len)
{
	size_t passed = 0, here = len;
	if (p->state == PIN_SNIFF)
		p->state = bytes[0] == RECORD_HANDSHAKE ? PIN_HELLO : PIN_OPEN;
	for (; passed < len && here > 0; passed += here) {
		size_t left = len - passed;
		uint64_t unseen = p->state == PIN_OPEN ? left : p->passing;
		here = left < unseen ? left : (size_t)unseen;
		if (p->passing > 0)
			p->passing -= here;
		else if (here == 0)
			here = steps[p->state](p, bytes + passed, left);
	}
	return passed;
}

size_t pin_reply(struct pin *p, const char *bytes, size_t len)
{
	if (p->state != PIN_REPLY)
		return len;
	size_t want = PIN_REPLY_BYTES - p->reply_len, here = len < want ? len : want;
	memcpy(p->reply + p->reply_len, bytes, here);
	p->reply_len += here;
	if (p->reply[0] == RECORD_HANDSHAKE && p->reply_len < PIN_REPLY_BYTES)
		return len;
	bool retry = memcmp(p->reply + REPLY_RANDOM_AT, retry_random, sizeof(retry_random)) == 0;
	p->state = retry ? PIN_SECOND : PIN_OPEN;
	return len;
}

bool pin_holds_all(const struct pin *p)
{
	return p->state == PIN_HELLO || p->state == PIN_HEAD;
}

const char *pin_unfinished(const struct pin *p)
{
	return p->endpoint->tls || p->endpoint->sniffed ? REFUSED_HELLO : REFUSED_HOST;
}
