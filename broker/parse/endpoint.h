/*
 * An endpoint: the one HOST:PORT of a channel, fixed when the broker starts.
 */
#ifndef BROKER_PARSE_ENDPOINT_H
#define BROKER_PARSE_ENDPOINT_H
#include "base/host.h"

struct endpoint {
	struct host_port at;
	enum reach reach;
	bool tls;
	bool sniffed; /* TLS is recognised by the first byte: through the proxy */
};

/* Decodes "HOST:PORT". A literal loopback address may be reached, and so may any other literal
 * address that is not link-local, multicast or otherwise special. A rule of the proxy may also be
 * "*.NAME:PORT", and one that names localhost allows loopback. The caller sets `tls`. */
int endpoint_decode(
	struct endpoint *endpoint, const char *text, bool is_rule, struct err *e) MUST_CHECK;
#endif
