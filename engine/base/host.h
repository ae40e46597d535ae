/*
 * HOST:PORT as written in machines and in the broker's options. Pure.
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
	union address address; /* AF_UNSPEC: the host is a name */
};

/* Decodes HOST:PORT. A name has letters, digits, '-', '_' and '.', no trailing dot, no '-' at an
 * end of a label, and no number as its last label; an IPv4 address has all four numbers. A port has
 * no leading zeros. An IPv6 address is written in brackets and decoded to its canonical spelling,
 * so that texts compare. */
int host_port_decode(struct host_port *out, const char *text, struct err *e) MUST_CHECK;
/* Decodes the same, or a name with "*." in front: any of its subdomains. */
int host_rule_decode(struct host_port *out, const char *text, struct err *e) MUST_CHECK;
/* Reports whether `wide` covers everything that `narrow` names. An address lies below no name. */
bool host_rule_covers(const struct host_port *wide, const struct host_port *narrow);
/* Reports the same for their hosts, whatever the ports. */
bool host_name_covers(const struct host_port *wide, const struct host_port *narrow);
/* Decodes HOST or "*.HOST" without a port. Refuses an address. */
int host_name_rule_decode(struct host_port *out, const char *text, struct err *e) MUST_CHECK;
#endif
