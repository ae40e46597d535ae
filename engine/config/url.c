#include "config/url.h"

#include <string.h>

/* Returns the reach of an address. An IPv4 address mapped into IPv6 counts as IPv4. */
static enum reach reach_of(const union address *a)
{
	union address inner = *a;
	if (a->family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr)) {
		inner = (union address){.in = {.sin_family = AF_INET}};
		memcpy(&inner.in.sin_addr, a->in6.sin6_addr.s6_addr + 12, 4);
	}
	return address_reach(&inner.any);
}

static bool is_localhost(const char *name)
{
	size_t len = strlen(name);
	return !strcmp(name, "localhost") || (len > 10 && !strcmp(name + len - 10, ".localhost"));
}

/* Sets HOST[:PORT], `len` bytes; the default port is that of http or https. */
static int set_authority(struct url *url, const char *text, size_t len, struct err *e)
{
	char whole[HOST_PORT_BYTES];
	const char *bracket = memrchr(text, ']', len), *host_end = bracket ? bracket : text;
	const char *port = memchr(host_end, ':', (size_t)(text + len - host_end));
	const char *usual = url->tls ? ":443" : ":80";
	if (len + strlen(usual) >= sizeof(whole))
		return err_set(e, "the host is longer than %d bytes", HOST_BYTES - 1);
	snprintf(whole, sizeof(whole), "%.*s%s", (int)len, text, port ? "" : usual);
	if (host_port_decode(&url->at, whole, e))
		return -1;
	enum reach reach = url->at.address.family ? reach_of(&url->at.address) : REACH_PUBLIC;
	url->loopback = url->at.address.family ? reach == REACH_LOCAL : is_localhost(url->at.host);
	url->private = !url->loopback && reach != REACH_PUBLIC;
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
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("?#@\\", *at))
			return err_set(e, "it must be printable ASCII without a user, query, "
					  "fragment or space");
	if (set_authority(&u, text, strcspn(text, "/"), e))
		return -1;
	*out = u;
	return 0;
}

int url_parse_host(const char *text, struct url *out, struct err *e)
{
	if (strstr(text, "://"))
		return url_parse(text, out, e);
	struct url u = {.tls = true};
	if (set_authority(&u, text, strlen(text), e))
		return -1;
	*out = u;
	return 0;
}
