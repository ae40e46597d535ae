#include "broker/parse/endpoint.h"

#include <string.h>

int endpoint_decode(struct endpoint *endpoint, const char *text, bool is_rule, struct err *e)
{
	*endpoint = (struct endpoint){.reach = REACH_PUBLIC};
	if ((is_rule ? host_rule_decode : host_port_decode)(&endpoint->at, text, e) < 0)
		return -1;
	/* A literal address needs no further permission: nothing resolves it. */
	if (endpoint->at.address.family)
		endpoint->reach = address_reach(&endpoint->at.address.any) == REACH_LOCAL
					  ? REACH_LOCAL
					  : REACH_PRIVATE;
	else if (is_rule && !endpoint->at.wildcard && strcmp(endpoint->at.host, "localhost") == 0)
		endpoint->reach = REACH_LOCAL;
	return 0;
}
