/*
 * An endpoint: the one HOST:PORT a channel leads to, fixed when the broker starts.
 */
#ifndef BROKER_PARSE_ENDPOINT_H
#define BROKER_PARSE_ENDPOINT_H
#include "base/host.h"

struct endpoint {
	struct host_port at;
	enum reach reach;
	bool tls;
	bool sniffed; /* what it speaks is seen from its first byte: through the proxy */
};

/* "HOST:PORT". A written loopback address may be reached, and so may any other written address that
 * is not link-local, multicast or otherwise special. A rule of the proxy may also be "*.NAME:PORT",
 * and naming localhost in one allows loopback. `tls` is left to the caller. */
int endpoint_decode(
	struct endpoint *endpoint, const char *text, bool is_rule, struct err *e) MUST_CHECK;
#endif
