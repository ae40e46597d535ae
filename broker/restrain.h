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
#include "broker/parse/options.h"

/* Closes what was inherited and is not named in the options; 0 and 1 become /dev/null unless named.
 * Raises the soft limit on descriptors to the hard one and sets options->fd_limit. */
int restrain_descriptors(struct options *options, struct err *e) MUST_CHECK;
/* Everything else, in order. A kernel without seccomp is an error; what its Landlock does not know
 * is left to seccomp, and `weakness` then says what that is (NULL: nothing). To be called before
 * there are threads. */
int restrain(const struct options *options, const char **weakness, struct err *e) MUST_CHECK;
#endif
