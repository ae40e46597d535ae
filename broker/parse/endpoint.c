#include "broker/parse/endpoint.h"

#include <string.h>

int endpoint_decode(struct endpoint *p, const char *text, bool is_rule, struct err *e)
{
	struct endpoint out = {.reach = REACH_PUBLIC};
	if ((is_rule ? host_rule_decode : host_port_decode)(&out.at, text, e) < 0)
		return -1;
	/* An address needs no permission beyond having been written: nothing resolves it. */
	if (out.at.address.family)
		out.reach = address_reach(&out.at.address.any) == REACH_LOCAL ? REACH_LOCAL
									      : REACH_PRIVATE;
	else if (is_rule && !out.at.wildcard && strcmp(out.at.host, "localhost") == 0)
		out.reach = REACH_LOCAL;
	*p = out;
	return 0;
}
