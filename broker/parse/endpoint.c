#include "broker/parse/endpoint.h"

#include <string.h>

int endpoint_decode(struct endpoint *p, const char *text, bool is_rule, struct err *e)
{
	*p = (struct endpoint){.reach = REACH_PUBLIC};
	if ((is_rule ? host_rule_decode : host_port_decode)(&p->at, text, e) < 0)
		return -1;
	/* An address needs no permission beyond having been written: nothing resolves it. */
	if (p->at.address.family)
		p->reach = address_reach(&p->at.address.any) == REACH_LOCAL ? REACH_LOCAL
									    : REACH_PRIVATE;
	else if (is_rule && !p->at.wildcard && strcmp(p->at.host, "localhost") == 0)
		p->reach = REACH_LOCAL;
	return 0;
}
