/*
 * The pin: decides which bytes from the agent may reach a channel's endpoint.
 *
 * Pure. One address of a CDN serves thousands of names, so an address alone pins nothing: TLS must
 * ask for the endpoint's name, plain HTTP must send its Host. A server may ask for a second
 * ClientHello (HelloRetryRequest); it must have the same name.
 */
#ifndef BROKER_PARSE_PIN_H
#define BROKER_PARSE_PIN_H
#include "broker/parse/endpoint.h"

enum { PIN_REPLY_BYTES = 43 }; /* a ServerHello up to the end of its random */

/* Why a connection was refused: the words of the control line's "refused" field; NULL: it was not.
 */
#define REFUSED_SNI     "sni"  /* the hello names no server, another one, or hides the name */
#define REFUSED_HOST    "host" /* a plain request without exactly the endpoint's Host */
#define REFUSED_LISTED  "host not listed" /* by no rule of the proxy */
#define REFUSED_ADDRESS "address" /* the name resolves to no address the channel may reach */
#define REFUSED_BUDGET  "budget"  /* a byte beyond --max-bytes */
#define REFUSED_DIAL    "dial"    /* no connection: no such name, no answer, no descriptor left */
#define REFUSED_HELLO   "hello"   /* the first bytes are no timely, well-formed ClientHello */

/* A request line, read byte by byte. */
struct http_line {
	size_t solid;      /* bytes other than blanks */
	size_t in_word;    /* bytes of its method or target */
	unsigned at;       /* how far it has the shape of a request line */
	unsigned matched;  /* letters of "HTTP", anywhere and in any case */
	unsigned capitals; /* capitals in its first word, as in a method */
	bool lax;          /* it has another shape */
	bool asks;         /* a server may take it for a request */
};

struct pin {
	const struct endpoint *endpoint;
	enum pin_state {
		PIN_SNIFF,     /* the first byte decides between PIN_HELLO and PIN_OPEN */
		PIN_HELLO,     /* holding the first hello */
		PIN_REPLY,     /* holding handshake records until the server has answered */
		PIN_SECOND,    /* the server asked again: the next handshake record is a hello */
		PIN_HEAD,      /* holding the first request's head */
		PIN_LINE,      /* between requests: bytes pass while the line is watched */
		PIN_NEXT_HEAD, /* holding the rest of a later request's head */
		PIN_OPEN,      /* everything passes */
	} state;
	uint64_t passing; /* bytes of a record or a body that pass before the state matters again */
	const char *refused;
	unsigned char reply[PIN_REPLY_BYTES];
	size_t reply_len;
	struct http_line line;
};

void pin_init(struct pin *pin, const struct endpoint *endpoint);
/* Offers the agent's bytes that are not approved yet; returns how many of them may pass. Offer the
 * rest again with further bytes, unless `refused` says why it may never pass. */
size_t pin_take(struct pin *pin, const char *bytes, size_t len);
/* Reads the bytes from the endpoint before they go to the agent, as all of them may. */
size_t pin_reply(struct pin *pin, const char *bytes, size_t len);
/* Reports whether nothing has been approved yet: then neither direction may flow. */
bool pin_holds_all(const struct pin *pin);
/* Returns the reason for a connection that ended or timed out before it was approved. */
const char *pin_unfinished(const struct pin *pin);

/* The steps for plain text, in http_host.c, return how many bytes they pass; 0: they need more, or
 * have refused. They never need bytes beyond HTTP_HEAD_MAX_BYTES to decide. */
enum { HTTP_HEAD_MAX_BYTES = 16 * 1024 };
size_t http_take_head(struct pin *pin, const char *bytes, size_t len);
size_t http_take_line(struct pin *pin, const char *bytes, size_t len);
#endif
