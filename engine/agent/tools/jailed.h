/*
 * Commands in jails, by a launcher that was started before the agent confined itself.
 *
 * The jail's policy was fixed then, before the key was read; afterwards the agent can only choose a
 * command and a time-out. The launcher never reads the output of the agent or of a command.
 */
#ifndef TOOLS_JAILED_H
#define TOOLS_JAILED_H
#include "base/buf.h"
#include "launch/launcher.h"
#include "launch/output.h"

/* Bytes kept of each stream: its first half and its last half. */
enum { JAILED_STREAM_BYTES = 128 * 1024 };

/* The result of a command. */
struct jailed {
	struct output out, err;
	/* Not given: the launcher died, and the command with it. */
	struct jail_status status;
};

/* Runs `argv` (a list of strings) for at most `timeout_secs`. Returns 0 with *out filled (release
 * it), or -1 if it could not be started at all. */
int jailed_run(struct launcher *launcher, const json_t *argv, int64_t timeout_secs,
	struct jailed *out, struct err *e);
void jailed_done(struct jailed *jailed);
/* Appends the kept bytes as clean UTF-8 text; a line in the middle tells how many were dropped. */
void jailed_text(const struct output *output, struct buf *out);
#endif
