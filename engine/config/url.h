/*
 * Addresses of providers and hosts: decodes a base_url or an allow_urls entry for the broker.
 */
#ifndef CONFIG_URL_H
#define CONFIG_URL_H
#include "base/host.h"

struct url {
	struct host_port at; /* its text names the broker's endpoint */
	bool tls;
	bool private;  /* an address of a private or link-local range */
	bool loopback; /* a loopback address, localhost or a name below it */
};

/* Parses http://HOST[:PORT][/PATH] or https://...; refuses user information, queries and
 * fragments. */
int url_parse(const char *text, struct url *out, struct err *e);
/* Parses the same, or HOST or HOST:PORT, which mean TLS. */
int url_parse_host(const char *text, struct url *out, struct err *e);
#endif
