/*
 * Live probes of a jail's promises: each tries something that must fail inside.
 *
 * The program is its own probe: `agent6 check sandbox` starts itself in a jail, where probe_inside
 * makes the attempts and prints their results.
 */
#ifndef CLI_CHECK_PROBE_H
#define CLI_CHECK_PROBE_H
#include <jansson.h>
#include <stdbool.h>

/* name, what it tries */
#define PROBES(X)                                                                                  \
	X(write_outside, "write a file outside the workspace")                                     \
	X(read_outside, "read a file outside the workspace")                                       \
	X(tcp, "connect to a TCP service of this host")                                            \
	X(udp, "send a UDP packet to this host")                                                   \
	X(trace, "trace a process")                                                                \
	X(user_namespace, "make a user namespace")                                                 \
	X(set_id, "make a set-user-id file")                                                       \
	X(abstract_socket, "connect to an abstract socket of this host")                           \
	X(named_socket, "connect to a named socket of this host")                                  \
	X(signal_outside, "signal a process of this host")

/* The environment that tells a probe its targets. */
#define PROBE_ENV_FILE   "AGENT6_PROBE_FILE"   /* a readable and writable file */
#define PROBE_ENV_TCP    "AGENT6_PROBE_TCP"    /* a port on 127.0.0.1 */
#define PROBE_ENV_UDP    "AGENT6_PROBE_UDP"    /* a port on 127.0.0.1 */
#define PROBE_ENV_SOCKET "AGENT6_PROBE_SOCKET" /* an abstract name */
#define PROBE_ENV_NAMED  "AGENT6_PROBE_NAMED"  /* a path */
#define PROBE_ENV_PID    "AGENT6_PROBE_PID"    /* a process of the same user */

/* Makes all attempts in the working directory and prints one JSON object: name -> 0 for success, or
 * the errno of the refusal. */
int probe_inside(void);
#endif
