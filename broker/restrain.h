/*
 * The broker's own confinement, in case it is ever taken over.
 *
 * It has no exec, no new privileges, no capability, no writable file, no readable file but the
 * resolver's, TCP connections only to the endpoints' ports (or the proxy's) and DNS, no memory that
 * is both mapped later and executable, no core and no debugger. UDP stays open, because DNS needs
 * it. If the resolver's configuration is replaced, not rewritten, while the broker runs, it does
 * not see that; but it sees changes below /run/systemd/resolve and /run/NetworkManager.
 */
#ifndef BROKER_RESTRAIN_H
#define BROKER_RESTRAIN_H
#include "broker/parse/options.h"

/* Closes inherited descriptors that no option names; 0 and 1 become /dev/null unless named. Raises
 * the soft limit on descriptors to the hard one and sets options->fd_limit. */
int restrain_descriptors(struct options *options, struct err *e) MUST_CHECK;
/* Applies everything else, in order. A kernel without seccomp is an error. What its Landlock lacks
 * is left to seccomp, and `weakness` says what that is (NULL: nothing). Call it before there are
 * threads. */
int restrain(const struct options *options, const char **weakness, struct err *e) MUST_CHECK;
#endif
