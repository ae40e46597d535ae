#include "base/address.h"

#include "base/address_table.h"
#include <arpa/inet.h>
#include <string.h>

bool address_decode(union address *out, const char *text)
{
	union address a = {.any = {.sa_family = AF_UNSPEC}};
	if (inet_pton(AF_INET, text, &a.in.sin_addr) == 1)
		a.family = AF_INET;
	else if (inet_pton(AF_INET6, text, &a.in6.sin6_addr) == 1)
		a.family = AF_INET6;
	*out = a;
	return a.family != AF_UNSPEC;
}

static bool prefix_matches(const struct prefix *prefix, const uint8_t *bytes)
{
	unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;
	return memcmp(prefix->bytes, bytes, whole) == 0 &&
	       (rest == 0 || ((prefix->bytes[whole] ^ bytes[whole]) >> (8 - rest)) == 0);
}

enum reach address_reach(const struct sockaddr *address)
{
	uint8_t bytes[16] = {NAT64};
	const struct prefix *p = prefixes;
	if (address->sa_family == AF_INET)
		memcpy(bytes + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
			4);
	else if (address->sa_family == AF_INET6)
		memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
	else
		return REACH_NEVER;
	while (!prefix_matches(p, bytes))
		p++;
	bool embedded = address->sa_family == AF_INET6 && p->bytes[1] == 0x64;
	return embedded && p->reach != REACH_PUBLIC ? REACH_NEVER : p->reach;
}

bool address_allowed(const struct sockaddr *address, enum reach reach)
{
	enum reach asked = address_reach(address);
	return asked == reach || (asked == REACH_PUBLIC && reach == REACH_PRIVATE) ||
	       (asked != REACH_NEVER && reach == REACH_NEAR);
}
