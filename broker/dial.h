/*
 * Dialling: endpoints become connected TCP sockets, by libcurl's connect-only mode.
 *
 * libcurl resolves in a thread of its own, races IPv6 against IPv4 (RFC 8305) and speaks to the
 * operator's proxy; every address it is about to connect to passes address_allowed first, so that
 * what was checked is what is connected. With a proxy the proxy resolves, and that check is the
 * proxy's. What leaves libcurl is a copy of its socket's descriptor: nothing of libcurl stays
 * behind per connection.
 */
#ifndef BROKER_DIAL_H
#define BROKER_DIAL_H
#include "broker/parse/endpoint.h"

enum { DIAL_TIMEOUT_MS = 10000, DIAL_ADDRESS_BYTES = 46 };

/* One attempt, embedded in what it is for; `address` is the peer's once it has succeeded. */
struct dial {
	void *easy; /* NULL: none under way */
	struct dialer *dialer;
	const struct endpoint *endpoint;
	bool tried, dropped; /* an address that may be reached, one that may not */
	/* What the proxy answered instead of connecting: HTTP's status, libcurl's number below 100
	 * for what was wrong with SOCKS; or 0. */
	long proxy_status;
	const char
		*cause; /* why nothing was dialled: name, refused, timeout, unreachable; or NULL */
	char address[DIAL_ADDRESS_BYTES];
};

struct dialer {
	void *multi;
	const char *proxy;
	/* `fd` is connected and non-blocking, owned by the receiver; or -1. `refused`: what to call
	 * it when nothing comes of it. */
	void (*done)(struct dial *a, int fd, const char *refused);
	unsigned under_way;
	int family, socket; /* of the last dial; and one like it for the next, or -1 */
	void *spare;        /* libcurl's handle of the last dial, for the next one; or NULL */
};

/* `done` is set, and `proxy` (borrowed). To be called before the process confines itself. */
int dialer_open(struct dialer *dialer, struct err *e) MUST_CHECK;
/* `done` is called later, once, unless the attempt is cancelled first. False: out of memory. */
bool dialer_start(struct dialer *dialer, struct dial *dial, const struct endpoint *endpoint);
/* Takes the handle of one back from libcurl, which closes its socket, and ends it. */
void dialer_cancel(struct dialer *dialer, void *easy);
/* Takes what is under way as far as it goes without waiting; then, if any still is, waits until
 * something happens to it, there is something to read from `fd`, or the time is over. */
void dialer_turn(struct dialer *dialer, int fd, int timeout_ms);
/* Makes the next dial's socket. False: there is one, or cannot be. */
bool dialer_prepare(struct dialer *dialer);
#endif
