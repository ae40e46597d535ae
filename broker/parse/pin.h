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

/* One request line, seen byte by byte. */
struct http_line {
	size_t solid;      /* bytes that are no blanks */
	size_t in_word;    /* bytes of its method or target */
	unsigned at;       /* how far it has the shape of a request line */
	unsigned matched;  /* of "HTTP", anywhere and in any case */
	unsigned capitals; /* in its first word, as a method has them */
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
/* Offers the bytes from the agent that have not been approved; returns how many of them may go. The
 * rest is to be offered again with more behind it, unless `refused` says why it never will go. */
size_t pin_take(struct pin *pin, const char *bytes, size_t len);
/* Is shown the bytes that came back from the endpoint, before they go to the agent, as all may. */
size_t pin_reply(struct pin *pin, const char *bytes, size_t len);
/* Nothing has been approved yet: neither direction may flow. */
bool pin_holds_all(const struct pin *pin);
/* What to say of a connection that ended or timed out before it was approved. */
const char *pin_unfinished(const struct pin *pin);

/* The steps for plain text, in http_host.c: how many bytes they pass; 0: more are needed, or it has
 * refused. Bytes beyond HTTP_HEAD_MAX_BYTES are never needed to decide. */
enum { HTTP_HEAD_MAX_BYTES = 16 * 1024 };
size_t http_take_head(struct pin *pin, const char *bytes, size_t len);
size_t http_take_line(struct pin *pin, const char *bytes, size_t len);
#endif
