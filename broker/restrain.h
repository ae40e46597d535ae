/*
 * The broker's own confinement: what is left to it if it is ever taken over.
 *
 * No exec, no new privileges, no capability, no writable file, no file to read but the resolver's,
 * TCP connections only to the endpoints' ports (or the proxy's) and DNS, no memory that is both
 * mapped later and executable, no core and no debugger. UDP stays open: DNS needs it.
 * A resolver configuration that is replaced, not rewritten, while the broker runs is not seen; what
 * lies below /run/systemd/resolve and /run/NetworkManager is.
 */
#ifndef BROKER_RESTRAIN_H
#define BROKER_RESTRAIN_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

enum { RESTRAIN_PORTS_MAX = 66 };

struct restraint {
	uint16_t ports[RESTRAIN_PORTS_MAX]; /* where TCP connections may go */
	size_t port_count;
	const int *kept_fds; /* every descriptor from 3 on that is not here is closed */
	size_t kept_count;
};

/* Raises the soft descriptor limit to the hard one; the limit is returned. */
uint64_t restrain_descriptors(void);
/* Closes what was inherited and not asked for; 0 and 1 become /dev/null unless kept. */
int restrain_inherited(const struct restraint *r, struct err *e) MUST_CHECK;
/* Everything else, in order. What an old kernel's Landlock does not know is left to seccomp; a
 * kernel without seccomp is an error. To be called before there are threads. */
int restrain(const struct restraint *r, struct err *e) MUST_CHECK;
#endif
