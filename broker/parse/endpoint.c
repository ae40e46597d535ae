#include "broker/parse/endpoint.h"

#include <string.h>

/* A written address needs no permission beyond having been written: nothing resolves it. */
static enum reach reach_of(const struct host_port *at)
{
	if (!at->address.family)
		return REACH_PUBLIC;
	return address_reach(&at->address.any) == REACH_LOCAL ? REACH_LOCAL : REACH_PRIVATE;
}

int endpoint_decode(struct endpoint *p, const char *text, struct err *e)
{
	struct endpoint out = {.tls = false};
	if (host_port_decode(&out.at, text, e) < 0)
		return -1;
	out.reach = reach_of(&out.at);
	*p = out;
	return 0;
}

int endpoint_decode_rule(struct endpoint *rule, const char *text, struct err *e)
{
	struct endpoint out = {.tls = false};
	if (host_rule_decode(&out.at, text, e) < 0)
		return -1;
	bool local = !out.at.wildcard && strcmp(out.at.host, "localhost") == 0;
	out.reach = local ? REACH_LOCAL : reach_of(&out.at);
	*rule = out;
	return 0;
}

bool endpoint_matches(const struct endpoint *rule, const struct endpoint *asked)
{
	const struct host_port *r = &rule->at, *a = &asked->at;
	size_t want = strlen(r->host), len = strlen(a->host);
	if (r->port != a->port || (r->wildcard && a->address.family) || len < want)
		return false;
	const char *tail = a->host + len - want;
	bool placed = r->wildcard ? len > want + 1 && tail[-1] == '.' : len == want;
	return placed && strcmp(tail, r->host) == 0;
}
