#include "broker/parse/pin.h"

#include "broker/parse/client_hello.h"
#include "broker/parse/octets.h"
#include <string.h>
#include <strings.h>

enum { RECORD_CHANGE_CIPHER = 20, RECORD_DATA = 23, REPLY_RANDOM_AT = 11 };

/* RFC 8446 4.1.3: the random that makes a ServerHello a HelloRetryRequest. */
static const unsigned char retry_random[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe,
	0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
	0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

void pin_init(struct pin *pin, const struct endpoint *endpoint)
{
	*pin = (struct pin){.endpoint = endpoint, .line.asks = true};
	pin->state = endpoint->sniffed ? PIN_SNIFF : endpoint->tls ? PIN_HELLO : PIN_HEAD;
}

/* Each step returns how many bytes it passes; 0: it needs more, or has refused. */

/* Takes the hello. A client sends no name for a server that is a literal address (RFC 6066 section
 * 3). */
static size_t take_hello(struct pin *pin, const char *bytes, size_t len)
{
	struct client_hello hello = {.bytes = 0};
	enum hello_answer answer = client_hello_decode((const uint8_t *)bytes, len, &hello);
	bool named =
		hello.name_count == 1 && !strcasecmp(pin->endpoint->at.host, hello.server_name);
	if (answer == HELLO_BAD)
		pin->refused = REFUSED_HELLO;
	if (answer != HELLO_WHOLE)
		return 0;
	if (hello.encrypted ||
		!(named || (hello.name_count == 0 && pin->endpoint->at.address.family))) {
		pin->refused = REFUSED_SNI;
		return 0;
	}
	pin->state = pin->state == PIN_HELLO ? PIN_REPLY : PIN_OPEN;
	return hello.bytes;
}

/* Takes a record. Between the hello and the server's answer an honest client sends at most early
 * data. A server that retries would read a second hello sent ahead, so handshake records wait.
 * Bytes that are no TLS record pass: no TLS server reads on after them. */
static size_t take_record(struct pin *pin, const char *bytes, size_t len)
{
	struct octets c = octets_over(bytes, len);
	size_t type = octets_number(&c, 1), major = octets_number(&c, 1);
	if (type < RECORD_CHANGE_CIPHER || type > RECORD_DATA || (!c.bad && major != 3)) {
		pin->state = PIN_OPEN;
		return len;
	}
	if (type == RECORD_HANDSHAKE)
		return pin->state == PIN_SECOND ? take_hello(pin, bytes, len) : 0;
	octets_number(&c, 1);
	pin->passing = octets_number(&c, 2);
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

size_t pin_take(struct pin *pin, const char *bytes, size_t len)
{
	size_t passed = 0, here = len;
	if (pin->state == PIN_SNIFF)
		pin->state = bytes[0] == RECORD_HANDSHAKE ? PIN_HELLO : PIN_OPEN;
	for (; passed < len && here > 0; passed += here) {
		size_t left = len - passed;
		uint64_t unseen = pin->state == PIN_OPEN ? left : pin->passing;
		here = left < unseen ? left : (size_t)unseen;
		if (pin->passing > 0)
			pin->passing -= here;
		else if (here == 0)
			here = steps[pin->state](pin, bytes + passed, left);
	}
	return passed;
}

size_t pin_reply(struct pin *pin, const char *bytes, size_t len)
{
	if (pin->state != PIN_REPLY)
		return len;
	size_t want = PIN_REPLY_BYTES - pin->reply_len, here = len < want ? len : want;
	memcpy(pin->reply + pin->reply_len, bytes, here);
	pin->reply_len += here;
	if (pin->reply[0] == RECORD_HANDSHAKE && pin->reply_len < PIN_REPLY_BYTES)
		return len;
	bool retry = memcmp(pin->reply + REPLY_RANDOM_AT, retry_random, sizeof(retry_random)) == 0;
	pin->state = retry ? PIN_SECOND : PIN_OPEN;
	return len;
}

bool pin_holds_all(const struct pin *pin)
{
	return pin->state == PIN_HELLO || pin->state == PIN_HEAD;
}

const char *pin_unfinished(const struct pin *pin)
{
	return pin->endpoint->tls || pin->endpoint->sniffed ? REFUSED_HELLO : REFUSED_HOST;
}
