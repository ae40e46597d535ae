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
#include "base/err.h"
#include "broker/loop.h"
#include "broker/parse/endpoint.h"
#include "broker/parse/refusal.h"

enum { DIAL_TIMEOUT_MS = 10000 };

/* The outcome: `fd` is connected and non-blocking, owned by the receiver, and `address` its peer;
 * or fd is -1 and `refused` says why. */
struct dialed {
	int fd;
	enum refusal refused;
	char address[ADDRESS_TEXT_BYTES];
};
typedef void dial_done(void *owner, const struct dialed *outcome);

struct dialer {
	struct watch watch; /* an epoll instance with libcurl's sockets */
	void *multi;
	const char *proxy;
	dial_done *done;
	struct dial *idle; /* handles kept for the next time */
	unsigned idle_count;
	int64_t wake_at_ms; /* when libcurl wants to be called, on the monotonic clock; -1: not */
};

/* `proxy` is borrowed. To be called before the process confines itself. */
int dialer_open(struct dialer *d, const char *proxy, dial_done *done, struct err *e) MUST_CHECK;
/* `done` is called later, once, unless the attempt is cancelled first. NULL: out of memory. */
struct dial *dialer_start(struct dialer *d, const struct endpoint *endpoint, void *owner);
void dialer_cancel(struct dialer *d, struct dial *attempt);
/* Lets libcurl see that its time has come. */
void dialer_tick(struct dialer *d, int64_t now_ms);
#endif
