/*
 * Reads the first request of a client of the proxy: HTTP CONNECT, a request for an http:// URL, or
 * SOCKS5, without authentication.
 *
 * Pure: the bytes seen so far in, one step out. Source: RFC 9110 section 9.3.6, RFC 9112 section
 * 3.2, RFC 1928.
 */
#ifndef BROKER_PARSE_PROXY_REQUEST_H
#define BROKER_PARSE_PROXY_REQUEST_H
#include "broker/parse/endpoint.h"

enum { PROXY_REQUEST_MAX_BYTES = 8 * 1024, PROXY_REPLY_BYTES = 200 };

enum proxy_step {
	PROXY_MORE,  /* not whole yet */
	PROXY_GREET, /* answer with proxy_greeting and go on */
	PROXY_CONNECT,
	PROXY_FORWARD, /* its head must go through proxy_request_forward first */
	PROXY_BAD,     /* neither, or malformed */
};

struct proxy_request {
	bool socks;   /* set with the first byte */
	bool greeted; /* SOCKS: the greeting has been answered; the caller keeps it between calls */
	size_t bytes; /* how many of the given bytes this step took; 0 with MORE and BAD */
	char target[HOST_PORT_BYTES]; /* "host:port", not yet checked */
	bool forwards;                /* the server answers the client */
};

enum proxy_step proxy_request_decode(struct proxy_request *request, const char *bytes, size_t len);
/* Writes the server's version of the `len` bytes that PROXY_FORWARD took: the target without its
 * host, no fields for a proxy, and a request to close after the answer, since the client's next
 * request may be for another host. Returns its length. */
enum { PROXY_HEAD_BYTES = PROXY_REQUEST_MAX_BYTES + 32 };
size_t proxy_request_forward(const char *bytes, size_t len, char out[PROXY_HEAD_BYTES]);

#define SOCKS_GREETING "\x05\x00"
/* Writes the answer; `refused` is the reason of a refusal, NULL means success. Returns its
 * length. */
size_t proxy_answer(
	const struct proxy_request *request, const char *refused, char out[PROXY_REPLY_BYTES]);
#endif
