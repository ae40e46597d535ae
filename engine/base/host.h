/*
 * HOST:PORT as it is written in machines and in the broker's options. Pure.
 */
#ifndef BASE_HOST_H
#define BASE_HOST_H
#include "base/address.h"
#include "base/err.h"
#include <stdint.h>

enum { HOST_BYTES = 254, HOST_PORT_BYTES = 270 };

struct host_port {
	char host[HOST_BYTES];      /* lower case; an IPv6 address without its brackets */
	char text[HOST_PORT_BYTES]; /* "host:port", brackets kept: for URLs and facts */
	uint16_t port;
	bool wildcard;         /* one or more labels before `host` */
	union address address; /* AF_UNSPEC: it is a name */
};

/* A name is letters, digits, '-', '_' and '.', without a trailing dot or a '-' at an end of a
 * label, and does not end in a number, as an IPv4 address does: that has all four. A port is
 * written without leading zeros. An IPv6 address stands in brackets and comes out in its one
 * spelling, so that texts compare. */
int host_port_decode(struct host_port *out, const char *text, struct err *e) MUST_CHECK;
/* The same, or "*." in front of a name: any of its subdomains. */
int host_rule_decode(struct host_port *out, const char *text, struct err *e) MUST_CHECK;
/* Whatever `narrow` names is named by `wide` too. An address lies below no name. */
bool host_rule_covers(const struct host_port *wide, const struct host_port *narrow);
/* The same of their hosts alone, whatever the ports. */
bool host_name_covers(const struct host_port *wide, const struct host_port *narrow);
/* Reads HOST or "*.HOST" without a port. An address is refused. */
int host_name_rule_decode(struct host_port *out, const char *text, struct err *e) MUST_CHECK;
#endif
