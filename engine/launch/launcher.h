/*
 * The engine's way to the jail: a resident `agent6-jail serve` with one policy. It takes one
 * command after another, and builds the next jail while the present one works.
 *
 * It is a separate program, started with no environment and no descriptor but its socket, so that
 * it never holds a secret. An order can choose a command and its environment, but never widen the
 * policy. Linked by the supervisor and the agent, not by the broker or the jail.
 */
#ifndef LAUNCH_LAUNCHER_H
#define LAUNCH_LAUNCHER_H
#include "base/child.h"
#include "contract/jail_policy.h"
#include "contract/jail_status.h"

/* An order's descriptors are stdin, stdout, stderr, and the pipe for its status line, whose end
 * means that all of the command's processes have ended. */
enum { LAUNCHER_ORDER_BYTES_MAX = 192 * 1024, LAUNCHER_FDS = 4, LAUNCHER_STATUS_BYTES_MAX = 65536 };
/* The number of `proxy_fd` below in the launcher, for a policy's proxy_fd. */
enum { LAUNCHER_PROXY_FD = 5 };

struct launcher {
	struct child child; /* pid -1: none */
	int socket_fd;      /* for orders; owned */
	/* Its own status line; hangs up when all of its processes have ended; owned. */
	int words_fd;
};
#define LAUNCHER_NONE                                                                              \
	{                                                                                          \
		.child = {-1, -1}, .socket_fd = -1, .words_fd = -1                                 \
	}

/* Starts a launcher for `policy`. `proxy_fd` (-1: none) is borrowed. The launcher ends with this
 * process, however that dies. */
int launcher_start(const struct jail_policy *policy, int proxy_fd, struct launcher *out,
	struct err *e) MUST_CHECK;
/* Gives an order: {"argv":[...]}, with "env" and "timeout_secs" if wanted. The descriptors are
 * borrowed. 0: the launcher has it; 1: the launcher has ended, and the command will never run; -1:
 * the order is too long, or this host lacks a resource. */
int launcher_order(struct launcher *launcher, const char *order, size_t len,
	const int fds[LAUNCHER_FDS], struct err *e) MUST_CHECK;
/* Returns an order's status line, or without one the launcher's own last words; not given if there
 * is neither. To be released. */
struct jail_status launcher_status(const struct launcher *launcher, const char *line, size_t len);
/* Reports whether it has ended by itself. */
bool launcher_gone(const struct launcher *launcher);
/* Kills it with everything that it runs. */
void launcher_kill(struct launcher *launcher);
/* Ends the orders: it builds no further jail, and ends when its commands have ended. */
void launcher_close(struct launcher *launcher);
/* Ends it with everything that it runs, by force if needed, and waits until all of it has ended.
 * Safe on LAUNCHER_NONE. */
void launcher_stop(struct launcher *launcher);
#endif
