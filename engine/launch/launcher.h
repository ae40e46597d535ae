/*
 * The engine's way to the jail: a resident `agent6-jail serve` with one policy, which is given one
 * command after the other and builds the next jail while the present one works.
 *
 * It is a program of its own, started with no environment and no descriptor but its socket, so that
 * it holds no secret whenever it was started; an order can pick a command and its environment,
 * never widen the policy. Linked by the supervisor and the agent, not by the broker and not by the
 * jail.
 */
#ifndef LAUNCH_LAUNCHER_H
#define LAUNCH_LAUNCHER_H
#include "base/child.h"
#include <jansson.h>

/* The order's descriptors: stdin, stdout, stderr, and where its status line goes, whose end says
 * that nothing of the command is left. */
enum { LAUNCHER_ORDER_BYTES_MAX = 192 * 1024, LAUNCHER_FDS = 4, LAUNCHER_STATUS_BYTES_MAX = 65536 };
/* A policy's "proxy_fd": what `proxy_fd` below becomes. */
enum { LAUNCHER_PROXY_FD = 5 };

struct launcher {
	struct child child; /* pid -1: none */
	int socket_fd;      /* the way to it; owned */
	int words_fd;       /* its own status line; hangs up when all of it is gone; owned */
};
#define LAUNCHER_NONE                                                                              \
	{                                                                                          \
		.child = {-1, -1}, .socket_fd = -1, .words_fd = -1                                 \
	}

/* Starts one for `policy`, in which argv and timeout_secs may be left out: orders have them.
 * `proxy_fd` (-1: none) is borrowed. It ends with this process, whatever that dies of. */
int launcher_start(
	const json_t *policy, int proxy_fd, struct launcher *out, struct err *e) MUST_CHECK;
/* Gives it an order: {"argv":[...]}, which may have "env" and "timeout_secs". The descriptors are
 * borrowed. 0: it has it; 1: it has ended, and the command will never run; -1: the order is too
 * long, or this host lacks something. */
int launcher_order(struct launcher *launcher, const char *order, size_t len,
	const int fds[LAUNCHER_FDS], struct err *e) MUST_CHECK;
/* An order's status line; without one, what the launcher itself died of. NULL: neither is there.
 * New reference. */
json_t *launcher_status(const struct launcher *launcher, const char *line, size_t len);
/* Whether it has ended by itself. */
bool launcher_gone(const struct launcher *launcher);
/* Ends it with all that it runs. */
void launcher_kill(struct launcher *launcher);
/* There are no orders after this: it builds no further jail, and ends when what it runs has. */
void launcher_close(struct launcher *launcher);
/* Ends it with all that it runs, kills it when it does not, and waits until nothing that it started
 * is left. Safe on LAUNCHER_NONE. */
void launcher_stop(struct launcher *launcher);
#endif
