/*
 * Commands in jails, started by a process that was forked off before the agent confined itself.
 *
 * The jail policy is fixed at that moment, before the key is read; afterwards the agent can pick a
 * command and a shorter time-out, nothing else. The launcher is where the jail gets its privileges
 * and name spaces from, and it never reads what the agent or a command prints.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H
#include "agent/tools/capture.h"
#include "base/err.h"
#include <jansson.h>

enum { LAUNCH_ARGV_BYTES_MAX = 128 * 1024 };

/* What became of a command. */
struct launched {
	struct capture out, err;
	json_t *status; /* agent6-jail's status line; NULL: there was none */
};

/* Forks the launcher, which will run every command under `policy` (agent6-jail's, without argv and
 * timeout_secs). *socket_fd is the way to it. Ends with the calling process. */
int launch_start(const json_t *policy, int *socket_fd, struct err *e);
/* Runs `argv` (a list of strings) for at most `timeout_secs`. Returns 0 with *out filled (to be
 * released), or -1: it could not be started at all. */
int launch_run(int socket_fd, const json_t *argv, int64_t timeout_secs, struct launched *out,
	struct err *e);
void launched_done(struct launched *l);
#endif
