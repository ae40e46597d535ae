/*
 * The pin: which bytes from the agent may reach a channel's endpoint.
 *
 * Pure. On a CDN one address serves thousands of names, so that the address alone pins nothing: TLS
 * must ask for the endpoint's name, plain HTTP must send its Host. A server may ask for a second
 * ClientHello (HelloRetryRequest); it is held to the same name.
 */
#ifndef BROKER_PARSE_PIN_H
#define BROKER_PARSE_PIN_H
#include "broker/parse/endpoint.h"
#include "broker/parse/http_host.h"

enum { PIN_REPLY_BYTES = 43 }; /* a ServerHello up to the end of its random */

struct pin {
	const struct endpoint *endpoint;
	enum pin_state {
		PIN_SNIFF,  /* the first byte decides between PIN_HELLO and PIN_OPEN */
		PIN_HELLO,  /* holding the first hello */
		PIN_REPLY,  /* holding handshake records until the server has answered */
		PIN_SECOND, /* the server asked again: the next handshake record is a hello */
		PIN_HTTP,
		PIN_OPEN, /* everything passes */
	} state;
	size_t record_left; /* of a record that passes */
	unsigned char reply[PIN_REPLY_BYTES];
	size_t reply_len;
	struct http_host http;
};

void pin_init(struct pin *p, const struct endpoint *endpoint);
/* Offers the bytes from the agent that have not been approved: `*passed` of them may go. */
const char *pin_take(struct pin *p, const char *bytes, size_t len, size_t *passed);
/* How many bytes `pin_take` would pass without a look at them: `bytes` may then be NULL. */
size_t pin_unseen(const struct pin *p);
/* Shows the bytes that came back from the endpoint, before they go to the agent. */
void pin_reply(struct pin *p, const char *bytes, size_t len);
/* Nothing has been approved yet: neither direction may flow. */
bool pin_holds_all(const struct pin *p);
/* What it holds can only be approved by more bytes from the agent. */
bool pin_wants_more(const struct pin *p);
/* What to say of a connection that ended or timed out before it was approved. */
const char *pin_unfinished(const struct pin *p);
#endif
