/*
 * The loopback listener: one thread, poll(2), a bounded number of connections.
 */
#ifndef REHEARSE_LISTEN_H
#define REHEARSE_LISTEN_H
#include "rehearse/serve.h"

/* Opens a listening socket on 127.0.0.1, on any port. Returns -1 on error. */
int listen_loopback(int *port, struct err *e);
/* Serves until `end_fd` reaches its end. */
int listen_run(int listener, int end_fd, struct player *player, struct err *e);
#endif
