#include "base/host.h"

#include "base/num.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Reports whether a label is a number. Resolvers and libcurl take a name that ends in one for an
 * address: 127.1, 0x7f000001. */
static bool is_number(const char *label)
{
	bool hex = !strncmp(label, "0x", 2);
	return !label[2 * hex + strspn(label + 2 * hex, hex ? "0123456789abcdef" : "0123456789")];
}

static bool is_name(const char *host)
{
	size_t len = strlen(host);
	const char *dot = strrchr(host, '.');
	return len > 0 && host[0] != '.' && host[len - 1] != '.' && !strstr(host, "..") &&
	       host[0] != '-' && host[len - 1] != '-' && !strstr(host, ".-") &&
	       !strstr(host, "-.") &&
	       strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == len &&
	       !is_number(dot ? dot + 1 : host);
}

int host_port_decode(struct host_port *out, const char *text, struct err *e)
{
	struct host_port p = {.port = 0};
	const char *colon = strrchr(text, ':');
	if (!colon)
		return err_set(e, "expected HOST:PORT, for example api.example.com:443");
	if (num_port(colon + 1, strlen(colon + 1), &p.port) < 0)
		return err_set(e, "the port must be a number from 1 to 65535");
	size_t len = (size_t)(colon - text);
	bool bracketed = len >= 2 && text[0] == '[' && colon[-1] == ']';
	if (len >= sizeof(p.host))
		return err_set(e, "the host is longer than %d bytes", HOST_BYTES - 1);
	for (size_t i = 0; i < len - 2 * bracketed; i++)
		p.host[i] = (char)tolower((unsigned char)text[i + bracketed]);
	if (address_decode(&p.address, p.host) && p.address.family == AF_INET6)
		inet_ntop(AF_INET6, &p.address.in6.sin6_addr, p.host, sizeof(p.host));
	if (bracketed ? p.address.family != AF_INET6
		      : p.address.family != AF_INET && !is_name(p.host))
		return err_set(e,
			"\"%s\" is neither a host name, an IPv4 address nor an IPv6 address in "
			"brackets",
			p.host);
	snprintf(p.text, sizeof(p.text), bracketed ? "[%s]:%u" : "%s:%u", p.host, p.port);
	*out = p;
	return 0;
}

int host_rule_decode(struct host_port *out, const char *text, struct err *e)
{
	bool wildcard = strncmp(text, "*.", 2) == 0;
	struct host_port p;
	if (host_port_decode(&p, text + 2 * wildcard, e) < 0)
		return -1;
	if (wildcard && p.address.family)
		return err_set(e, "\"*.\" goes before a name, not an address");
	p.wildcard = wildcard;
	*out = p;
	return 0;
}

bool host_name_covers(const struct host_port *wide, const struct host_port *narrow)
{
	size_t len = strlen(narrow->host), tail = strlen(wide->host);
	if (wide->wildcard == narrow->wildcard && strcmp(wide->host, narrow->host) == 0)
		return true;
	return wide->wildcard && !narrow->address.family && len > tail &&
	       narrow->host[len - tail - 1] == '.' &&
	       strcmp(narrow->host + len - tail, wide->host) == 0;
}

bool host_rule_covers(const struct host_port *wide, const struct host_port *narrow)
{
	return wide->port == narrow->port && host_name_covers(wide, narrow);
}

int host_name_rule_decode(struct host_port *out, const char *text, struct err *e)
{
	char with_port[HOST_PORT_BYTES];
	struct host_port p;
	snprintf(with_port, sizeof(with_port), "%s:1", text);
	if (host_rule_decode(&p, with_port, e) < 0)
		return -1;
	if (p.address.family)
		return err_set(e, "an address needs no permission: what it leads to is written");
	*out = p;
	return 0;
}
