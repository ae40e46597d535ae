/*
 * A door: the broker's end of one channel. A byte comes in, a connected descriptor goes out.
 *
 * Descriptors that come in with a byte are never accepted: the kernel is given no room for them and
 * closes them. Source: unix(7), SCM_RIGHTS and SCM_CREDENTIALS.
 */
#ifndef BROKER_DOOR_H
#define BROKER_DOOR_H
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

enum door_event {
	DOOR_QUIET, /* nothing there */
	DOOR_REQUEST,
	DOOR_REFUSED, /* another user, or a descriptor came along: to be answered without one */
	DOOR_CLOSED,
};

/* Checks that `fd` is a connected AF_UNIX stream socket made by our own user, and makes it
 * non-blocking. `vouched` 1: credentials are to come with every byte, for door_next; 0: for
 * door_listener. `peer`: who made it, 0 when it is in another PID namespace. */
int door_prepare(int fd, int vouched, pid_t *peer, struct err *e) MUST_CHECK;
enum door_event door_next(int fd);
/* The proxy's listening TCP socket; -1: anything else came, and is closed, or nothing did. Who
 * sends it is not asked: the jail's launcher already is the jail's user, and drops its end before
 * it runs anything. */
int door_listener(int fd, bool *closed);
#endif
