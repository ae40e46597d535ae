/*
 * An order: which command a jail that is already built shall run, and with which descriptors, sent
 * over a SOCK_SEQPACKET unix socket as one message of JSON with descriptors attached.
 *
 *   {"argv":["make"], "env":{"LANG":"C"}, "timeout_secs":60}     env and timeout_secs may be left
 * out
 *
 * An order cannot widen a jail: everything else is the policy's, fixed when the launcher started.
 */
#ifndef JAIL_ORDER_H
#define JAIL_ORDER_H
#include "base/err.h"
#include <stddef.h>

enum { ORDER_BYTES_MAX = 192 * 1024, ORDER_FDS = 4 }; /* stdin, stdout, stderr, status */

struct order {
	char *text; /* owned */
	size_t len;
	int fds[ORDER_FDS]; /* owned; -1: none */
};

/* Waits for one. 0: there is one; 1: the other side is gone; -1: it is not an order. `count`
 * descriptors must come with it. */
int order_receive(int socket_fd, struct order *o, int count, struct err *e);
/* Sends it on with its first `count` descriptors. */
int order_send(int socket_fd, const struct order *o, int count, struct err *e);
void order_done(struct order *o);
#endif
