/*
 * The shared part of the attempts: their targets, a marked message, and a call with a short
 * time-out.
 */
#ifndef TESTS_SECURITY_EGRESS_REACH_H
#define TESTS_SECURITY_EGRESS_REACH_H
#include "tests/security/egress/attempts.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { MESSAGE_BYTES = 200 };

struct target {
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
		struct sockaddr_un named;
	} at;
	socklen_t len;
};

extern const char *reach_role; /* who makes the attempts */

struct target reach_port(const char *host, int port);
/* The listener of that host. */
struct target reach_canary(const char *host);
/* A unix socket; `skip` 1: an abstract one. */
struct target reach_unix(const char *name, size_t skip);
/* A connected socket; -1 with errno. */
int reach_call(const struct target *target, int type, int protocol);
/* "MARK ROLE `id`", and its length. */
size_t reach_message(char out[MESSAGE_BYTES], const char *id);
/* 0 when a byte comes from the other side. */
int reach_answered(int fd);
/* Calls, speaks and waits for the answer. */
int reach_send(struct target t, int type, int protocol, const char *id);

#define ATTEMPT_DECLARE(id, ...) int id(const char *name);
ATTEMPTS(ATTEMPT_DECLARE)
#endif
