/*
 * Commands in jails, through a launcher that was started before the agent confined itself.
 *
 * The jail's policy was fixed at that moment, before the key is read; afterwards the agent can pick
 * a command and a time-out, nothing else. The launcher never reads what the agent or a command
 * prints.
 */
#ifndef TOOLS_JAILED_H
#define TOOLS_JAILED_H
#include "base/buf.h"
#include "launch/launcher.h"
#include "launch/output.h"

/* What is kept of each stream: its first and its last half. */
enum { JAILED_STREAM_BYTES = 128 * 1024 };

/* What became of a command. */
struct jailed {
	struct output out, err;
	json_t *status; /* agent6-jail's status line; NULL: the launcher died, and the command with
			   it */
};

/* Runs `argv` (a list of strings) for at most `timeout_secs`. Returns 0 with *out filled (to be
 * released), or -1: it could not be started at all. */
int jailed_run(struct launcher *launcher, const json_t *argv, int64_t timeout_secs,
	struct jailed *out, struct err *e);
void jailed_done(struct jailed *jailed);
/* Appends the kept bytes as clean UTF-8 text; a line in the middle says how much was dropped. */
void jailed_text(const struct output *output, struct buf *out);
#endif
