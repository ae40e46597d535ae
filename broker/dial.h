/*
 * Dialling: endpoints become connected TCP sockets, by libcurl's connect-only mode.
 *
 * libcurl resolves in a thread of its own, races IPv6 against IPv4 (RFC 8305) and speaks to the
 * operator's proxy; every address it is about to connect to passes address_allowed first, so that
 * what was checked is what is connected. With a proxy the proxy resolves, and that check is the
 * proxy's. The socket leaves libcurl as a duplicate: nothing of libcurl stays behind per
 * connection.
 */
#ifndef BROKER_DIAL_H
#define BROKER_DIAL_H
#include "broker/loop.h"
#include "broker/parse/endpoint.h"

enum { DIAL_TIMEOUT_MS = 10000, DIAL_ADDRESS_BYTES = 46, DIALERS_IDLE_MAX = 16 };

/* One attempt, embedded in what it is for; `address` is the peer's once it has succeeded. */
struct dial {
	void *easy; /* NULL: none under way */
	const struct dialer *dialer;
	const struct endpoint *endpoint;
	unsigned tried, dropped;
	char address[DIAL_ADDRESS_BYTES];
};

struct dialer {
	struct watch watch; /* an epoll instance with libcurl's sockets */
	void *multi;
	const char *proxy;
	/* `fd` is connected and non-blocking, owned by the receiver; or -1, and `refused` why. */
	void (*done)(struct dial *a, int fd, const char *refused);
	void *idle[DIALERS_IDLE_MAX]; /* handles kept for the next time */
	unsigned idle_count;
	int64_t wake_at_ms; /* when libcurl wants to be called, on the monotonic clock */
};

/* `done` is set, and `proxy` (borrowed). To be called before the process confines itself. */
int dialer_open(struct dialer *d, struct err *e) MUST_CHECK;
/* `done` is called later, once, unless the attempt is cancelled first. False: out of memory. */
bool dialer_start(struct dialer *d, struct dial *a, const struct endpoint *endpoint);
/* Nothing when none is under way. */
void dialer_cancel(struct dialer *d, struct dial *a);
/* Lets libcurl see that its time has come. */
void dialer_tick(struct dialer *d, int64_t now_ms);
#endif
