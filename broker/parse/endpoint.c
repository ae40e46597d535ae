#include "broker/parse/endpoint.h"

#include "base/num.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>

static bool is_name(const char *host)
{
	size_t len = strlen(host);
	return len > 0 && host[0] != '.' && host[len - 1] != '.' && !strstr(host, "..") &&
	       strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == len;
}

/* A written address needs no permission beyond having been written: nothing resolves it. */
static void see_address(struct endpoint *p)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} at = {.any.sa_family = AF_INET};
	p->is_address = inet_pton(AF_INET, p->host, &at.in.sin_addr) == 1;
	if (!p->is_address && inet_pton(AF_INET6, p->host, &at.in6.sin6_addr) == 1) {
		at.any.sa_family = AF_INET6;
		p->is_address = p->is_ipv6 = true;
		/* One spelling, so that rules compare. */
		inet_ntop(AF_INET6, &at.in6.sin6_addr, p->host, sizeof(p->host));
	}
	if (p->is_address)
		p->reach = address_reach(&at.any) == REACH_LOCAL ? REACH_LOCAL : REACH_PRIVATE;
}

int endpoint_decode(struct endpoint *p, const char *text, struct err *e)
{
	struct endpoint out = {.reach = REACH_PUBLIC};
	const char *colon = strrchr(text, ':');
	int64_t port;
	if (!colon)
		return err_set(e, "expected HOST:PORT, for example api.example.com:443");
	if (num_int(colon + 1, strlen(colon + 1), &port) < 0 || port < 1 || port > 65535)
		return err_set(e, "the port must be a number from 1 to 65535");
	size_t len = (size_t)(colon - text);
	bool bracketed = len >= 2 && text[0] == '[' && colon[-1] == ']';
	if (len >= sizeof(out.host))
		return err_set(e, "the host is longer than %d bytes", ENDPOINT_HOST_BYTES - 1);
	for (size_t i = 0; i < len - 2 * bracketed; i++)
		out.host[i] = (char)tolower((unsigned char)text[i + bracketed]);
	see_address(&out);
	if (bracketed ? !out.is_ipv6 : !is_name(out.host))
		return err_set(e,
			"\"%s\" is neither a host name, an IPv4 address nor an IPv6 address in "
			"brackets",
			out.host);
	out.port = (uint16_t)port;
	snprintf(out.text, sizeof(out.text), out.is_ipv6 ? "[%s]:%u" : "%s:%u", out.host, out.port);
	*p = out;
	return 0;
}

int endpoint_decode_rule(struct endpoint *rule, const char *text, struct err *e)
{
	bool wildcard = strncmp(text, "*.", 2) == 0;
	if (endpoint_decode(rule, text + 2 * wildcard, e) < 0)
		return -1;
	if (wildcard && rule->is_address)
		return err_set(e, "\"*.\" goes before a name, not an address");
	rule->wildcard = wildcard;
	if (!wildcard && strcmp(rule->host, "localhost") == 0)
		rule->reach = REACH_LOCAL;
	return 0;
}

bool endpoint_matches(const struct endpoint *rule, const struct endpoint *asked)
{
	size_t want = strlen(rule->host), len = strlen(asked->host);
	if (rule->port != asked->port || (rule->wildcard && asked->is_address) || len < want)
		return false;
	const char *tail = asked->host + len - want;
	bool placed = rule->wildcard ? len > want + 1 && tail[-1] == '.' : len == want;
	return placed && strcmp(tail, rule->host) == 0;
}
