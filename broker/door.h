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
	DOOR_REQUEST,
	DOOR_REFUSED, /* another user, or a descriptor came along: to be answered without one */
	DOOR_QUIET,   /* nothing there */
	DOOR_CLOSED,
};

/* Checks that `fd` is a connected AF_UNIX stream socket made by our own user, and asks for
 * credentials with every byte. `peer`: who made it, 0 when it is in another PID namespace. */
int door_prepare(int fd, pid_t *peer, struct err *e) MUST_CHECK;
/* `listener` NULL: a request. Otherwise the proxy's: with DOOR_REQUEST a listening TCP socket,
 * owned by the caller; what comes without one, or with anything else, is DOOR_REFUSED. Who sends it
 * is not asked then: the jail's launcher already is the jail's user, and drops its end before it
 * runs anything. */
enum door_event door_next(int fd, int *listener);
/* Sends one byte, with `passed_fd` unless it is -1. 1: sent; 0: try again when it is writable;
 * -1: cannot be sent. */
int door_answer(int fd, int passed_fd);
#endif
