/*
 * Addresses of providers and hosts: what a base_url or an allow_urls entry means to the broker.
 */
#ifndef CONFIG_URL_H
#define CONFIG_URL_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct url {
	char host[256];     /* without brackets, lower case */
	char endpoint[272]; /* HOST:PORT, an IPv6 address in brackets */
	int port;
	bool tls;
	bool literal;  /* the host is an address, not a name */
	bool private;  /* an address of a private or link-local range */
	bool loopback; /* a loopback address, localhost or a name below it */
};

/* http://HOST[:PORT][/PATH] or https://...; user information, queries and fragments are refused. */
int url_parse(const char *text, struct url *out, struct err *e);
/* The same, or HOST or HOST:PORT, which mean TLS. */
int url_parse_host(const char *text, struct url *out, struct err *e);
#endif
