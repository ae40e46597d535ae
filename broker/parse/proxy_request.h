/*
 * What a client asks of the proxy: HTTP CONNECT or SOCKS5, without authentication.
 *
 * Pure: the bytes seen so far in, one step out. Source: RFC 9110 section 9.3.6, RFC 1928.
 */
#ifndef BROKER_PARSE_PROXY_REQUEST_H
#define BROKER_PARSE_PROXY_REQUEST_H
#include "broker/parse/endpoint.h"

enum { PROXY_REQUEST_MAX_BYTES = 8 * 1024, PROXY_REPLY_BYTES = 200 };

enum proxy_step {
	PROXY_MORE,  /* not whole yet */
	PROXY_GREET, /* answer with proxy_greeting and go on */
	PROXY_CONNECT,
	PROXY_BAD, /* neither, or malformed */
};

struct proxy_request {
	bool socks;   /* set with the first byte */
	bool greeted; /* SOCKS: the greeting has been answered; kept by the caller between calls */
	size_t bytes; /* how many of the given bytes this step took; 0 with MORE and BAD */
	char target[HOST_PORT_BYTES]; /* with PROXY_CONNECT: "host:port", not yet checked */
};

enum proxy_step proxy_request_decode(struct proxy_request *r, const char *bytes, size_t len);

#define SOCKS_GREETING "\x05\x00"
/* What to send back; `refused` names the reason of a refusal, NULL means success. Returns its
 * length. */
size_t proxy_answer(
	const struct proxy_request *r, const char *refused, char out[PROXY_REPLY_BYTES]);
#endif
