#include "config/url.h"

#include "base/address.h"
#include "base/num.h"
#include <string.h>

/* An IPv4 address in the clothes of IPv6 leads where the former does. */
static bool decode_address(union address *out, const char *host)
{
	union address a;
	bool found = address_decode(&a, host);
	*out = a;
	if (a.family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a.in6.sin6_addr)) {
		*out = (union address){.in = {.sin_family = AF_INET}};
		memcpy(&out->in.sin_addr, a.in6.sin6_addr.s6_addr + 12, 4);
	}
	return found;
}

static bool is_loopback(const char *host, const union address *a)
{
	size_t len = strlen(host);
	if (a->family)
		return address_reach(&a->any) == REACH_LOCAL;
	return !strcmp(host, "localhost") || (len > 10 && !strcmp(host + len - 10, ".localhost"));
}

/* Copies the host in lower case; letters, digits, `-`, `.` and for addresses `:`. */
static int set_host(struct url *u, const char *text, size_t len, bool bracketed, struct err *e)
{
	if (!len || len > 253)
		return err_set(e, "the host is missing or too long");
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 'a' - 'A');
		if (!strchr(bracketed ? "0123456789abcdef:."
				      : "abcdefghijklmnopqrstuvwxyz0123456789-._",
			    c))
			return err_set(e, "the host holds a character that no host has");
		u->host[i] = c;
	}
	u->host[len] = '\0';
	union address a;
	u->literal = decode_address(&a, u->host);
	if (bracketed && !u->literal)
		return err_set(e, "[%s] is not an address", u->host);
	if (!bracketed && (u->host[0] == '.' || u->host[len - 1] == '.' || strstr(u->host, "..")))
		return err_set(
			e, "a host neither begins nor ends with a dot, nor has two in a row");
	u->loopback = is_loopback(u->host, &a);
	u->private = u->literal && !u->loopback && address_reach(&a.any) != REACH_PUBLIC;
	return 0;
}

static int set_port(struct url *u, const char *text, size_t len, struct err *e)
{
	uint16_t port;
	if (num_port(text, len, &port))
		return err_set(e, "the port must be a number from 1 to 65535");
	u->port = port;
	return 0;
}

/* HOST[:PORT], `len` bytes; the default port is already set. */
static int set_authority(struct url *u, const char *text, size_t len, struct err *e)
{
	bool bracketed = len && text[0] == '[';
	const char *end = text + len, *host = text + bracketed;
	const char *host_end = memchr(host, bracketed ? ']' : ':', (size_t)(end - host));
	if (!host_end && bracketed)
		return err_set(e, "the bracket of the address is not closed");
	if (!host_end)
		host_end = end;
	if (set_host(u, host, (size_t)(host_end - host), bracketed, e))
		return -1;
	const char *rest = host_end + bracketed;
	if (rest < end && *rest != ':')
		return err_set(e, "only a port may follow the host");
	if (rest < end && set_port(u, rest + 1, (size_t)(end - rest - 1), e))
		return -1;
	snprintf(u->endpoint, sizeof(u->endpoint), bracketed ? "[%s]:%d" : "%s:%d", u->host,
		u->port);
	return 0;
}

int url_parse(const char *text, struct url *out, struct err *e)
{
	struct url u = {0};
	if (!strncmp(text, "https://", 8))
		u.tls = true;
	else if (strncmp(text, "http://", 7))
		return err_set(e, "it must begin with http:// or https://");
	text += u.tls ? 8 : 7;
	u.port = u.tls ? 443 : 80;
	if (strpbrk(text, "?#@\\ \t\r\n"))
		return err_set(e, "it must have no user, query, fragment or space");
	if (set_authority(&u, text, strcspn(text, "/"), e))
		return -1;
	*out = u;
	return 0;
}

int url_parse_host(const char *text, struct url *out, struct err *e)
{
	if (strstr(text, "://"))
		return url_parse(text, out, e);
	struct url u = {.tls = true, .port = 443};
	if (set_authority(&u, text, strlen(text), e))
		return -1;
	*out = u;
	return 0;
}
