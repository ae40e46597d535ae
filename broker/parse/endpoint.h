/*
 * An endpoint: the one HOST:PORT a channel leads to, fixed when the broker starts.
 */
#ifndef BROKER_PARSE_ENDPOINT_H
#define BROKER_PARSE_ENDPOINT_H
#include "base/err.h"
#include "broker/parse/address.h"
#include <stdint.h>

enum { ENDPOINT_HOST_BYTES = 254, ENDPOINT_TEXT_BYTES = 270 };

struct endpoint {
	char host[ENDPOINT_HOST_BYTES]; /* lower case; an IPv6 address without its brackets */
	char text[ENDPOINT_TEXT_BYTES]; /* "host:port", brackets kept: for URLs and facts */
	uint16_t port;
	bool is_address; /* written as an address, not as a name */
	bool is_ipv6;
	bool tls;
	bool sniffed;  /* what it speaks is seen from its first byte: through the proxy */
	bool wildcard; /* a rule: one or more labels before `host` */
	enum reach reach;
};

/* "HOST:PORT". A name is letters, digits, '-', '_' and '.', without a trailing dot; a written
 * loopback address may be reached, and so may any other written address that is not link-local,
 * multicast or otherwise special. `tls` is left to the caller. */
int endpoint_decode(struct endpoint *p, const char *text, struct err *e) MUST_CHECK;

/* A rule of the proxy: the same, with "*." in front of a name for any of its subdomains. Naming
 * localhost allows loopback. */
int endpoint_decode_rule(struct endpoint *rule, const char *text, struct err *e) MUST_CHECK;
bool endpoint_matches(const struct endpoint *rule, const struct endpoint *asked);
#endif
