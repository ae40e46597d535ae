/*
 * The resident launcher: started before any secret is loaded, it keeps the next jail ready while
 * the present one works, and gives it a command (order.h) when one is asked for.
 *
 * Every command has a jail of its own, with all namespaces, as if it had been launched alone; only
 * the time to build it is spent beforehand. A jail that was built for another state of the host (a
 * protected path that has appeared or been replaced, a new socket in the workspace) is thrown away
 * and built again before the command is let in.
 */
#ifndef JAIL_SERVE_H
#define JAIL_SERVE_H
#include "jail/jail.h"

/* Serves orders from `socket_fd` until its other end is closed, then ends with all that still runs.
 * `base` has the policy. */
int serve_run(struct jail *base, int socket_fd, struct err *e);
#endif
