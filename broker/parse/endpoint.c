#include "broker/parse/endpoint.h"

#include "base/num.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

static bool is_name(const char *host, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
	return len > 0 && host[0] != '.' && host[len - 1] != '.' && strspn(host, allowed) == len &&
	       !strstr(host, "..");
}

static enum reach reach_of(const struct sockaddr *address)
{
	return address_class(address) == ADDRESS_LOOPBACK ? REACH_LOCAL : REACH_PRIVATE;
}

/* A written address needs no permission beyond having been written: nothing resolves it. */
static void see_address(struct endpoint *p)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	p->is_address = true;
	if (inet_pton(AF_INET, p->host, &in.sin_addr) == 1)
		p->reach = reach_of((const struct sockaddr *)&in);
	else if (inet_pton(AF_INET6, p->host, &in6.sin6_addr) == 1)
		p->reach = reach_of((const struct sockaddr *)&in6);
	else
		p->is_address = false;
	if (p->is_address && strchr(p->host, ':')) /* one spelling, so that rules compare */
		inet_ntop(AF_INET6, &in6.sin6_addr, p->host, sizeof(p->host));
}

static int decode_host(struct endpoint *p, const char *host, size_t len, struct err *e)
{
	bool bracketed = len >= 2 && host[0] == '[' && host[len - 1] == ']';
	if (bracketed) {
		host++;
		len -= 2;
	}
	if (len >= sizeof(p->host) || memchr(host, '\0', len))
		return err_set(e, "the host is longer than %d bytes", ENDPOINT_HOST_BYTES - 1);
	for (size_t i = 0; i < len; i++)
		p->host[i] = (char)(host[i] >= 'A' && host[i] <= 'Z' ? host[i] | 0x20 : host[i]);
	p->host[len] = '\0';
	see_address(p);
	bool is_ipv6 = p->is_address && strchr(p->host, ':');
	if (bracketed ? !is_ipv6 : !is_name(p->host, len))
		return err_set(e,
			"\"%s\" is neither a host name, an IPv4 address nor an IPv6 address "
			"in brackets",
			p->host);
	return 0;
}

int endpoint_decode(struct endpoint *p, const char *text, size_t len, struct err *e)
{
	struct endpoint out = {.reach = REACH_PUBLIC};
	const char *colon = memrchr(text, ':', len);
	int64_t port;
	if (!colon)
		return err_set(e, "expected HOST:PORT, for example api.example.com:443");
	const char *digits = colon + 1;
	size_t digit_count = (size_t)(text + len - digits);
	if (num_int(digits, digit_count, &port) < 0 || port < 1 || port > 65535)
		return err_set(e, "the port must be a number from 1 to 65535");
	if (decode_host(&out, text, (size_t)(colon - text), e) < 0)
		return -1;
	out.port = (uint16_t)port;
	bool is_ipv6 = out.is_address && strchr(out.host, ':');
	snprintf(out.text, sizeof(out.text), is_ipv6 ? "[%s]:%u" : "%s:%u", out.host, out.port);
	*p = out;
	return 0;
}

int endpoint_decode_rule(struct endpoint *rule, const char *text, size_t len, struct err *e)
{
	bool wildcard = len > 2 && memcmp(text, "*.", 2) == 0;
	if (endpoint_decode(rule, text + 2 * wildcard, len - 2 * wildcard, e) < 0)
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
	if (rule->port != asked->port)
		return false;
	if (!rule->wildcard)
		return strcmp(rule->host, asked->host) == 0;
	return !asked->is_address && len > want + 1 && asked->host[len - want - 1] == '.' &&
	       strcmp(asked->host + len - want, rule->host) == 0;
}

bool endpoint_names(const struct endpoint *p, const char *host, size_t len)
{
	if (p->is_address && strchr(p->host, ':')) {
		if (len < 2 || host[0] != '[' || host[len - 1] != ']')
			return false;
		host++;
		len -= 2;
	}
	return len == strlen(p->host) && strncasecmp(p->host, host, len) == 0;
}
