/*
 * Dialling: turns endpoints into connected TCP sockets, by libcurl's connect-only mode.
 *
 * libcurl resolves in a thread of its own, races IPv6 against IPv4 (RFC 8305) and speaks to the
 * operator's proxy. Every address it is about to connect to must pass address_allowed, so the
 * checked address is the one connected. With a proxy, the proxy resolves and checks. A copy of the
 * socket's descriptor leaves libcurl, and nothing of libcurl stays per connection.
 */
#ifndef BROKER_DIAL_H
#define BROKER_DIAL_H
#include "broker/parse/endpoint.h"

enum { DIAL_TIMEOUT_MS = 10000, DIAL_ADDRESS_BYTES = 46 };

/* One attempt, embedded in its user; `address` is the peer's once it has succeeded. */
struct dial {
	void *easy; /* NULL: none under way */
	struct dialer *dialer;
	const struct endpoint *endpoint;
	bool tried, dropped; /* there was an address that may be reached; one that may not */
	/* The proxy's answer instead of a connection: HTTP's status, or libcurl's number below 100
	 * for an error of SOCKS; or 0. */
	long proxy_status;
	const char
		*cause; /* why nothing was dialled: name, refused, timeout, unreachable; or NULL */
	char address[DIAL_ADDRESS_BYTES];
};

struct dialer {
	void *multi;
	const char *proxy;
	/* Takes the result. `fd` is connected and non-blocking, owned by the receiver; or -1, and
	 * `refused` is the name of the refusal. */
	void (*done)(struct dial *a, int fd, const char *refused);
	unsigned under_way;
	int family, socket; /* of the last dial; and one made ahead for the next, or -1 */
	void *spare;        /* libcurl's handle of the last dial, to be used again; or NULL */
};

/* Opens the dialler, whose `done` and `proxy` (borrowed) are set. Call it before the process
 * confines itself. */
int dialer_open(struct dialer *dialer, struct err *e) MUST_CHECK;
/* Starts a dial. `done` is called once, later, unless the dial is cancelled. Returns false if out
 * of memory. */
bool dialer_start(struct dialer *dialer, struct dial *dial, const struct endpoint *endpoint);
/* Takes the handle of a dial back from libcurl, which closes its socket, and ends it. */
void dialer_cancel(struct dialer *dialer, void *easy);
/* Advances the dials as far as possible without waiting. Then, if any is still under way, waits
 * until something happens to it, `fd` is readable, or the time is over. */
void dialer_turn(struct dialer *dialer, int fd, int timeout_ms);
/* Makes the next dial's socket. Returns false if there is one already, or none can be made. */
bool dialer_prepare(struct dialer *dialer);
#endif
