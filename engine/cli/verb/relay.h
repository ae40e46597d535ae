/*
 * What stands between the files that agent6 was started with as standard input, output and error,
 * and a jailed command: pipes. Whoever has a file open can change its mode and times, cut it, and
 * read it once more, whatever the jail says.
 *
 * A terminal, a pipe, a socket and a character device such as /dev/null are handed on as they are:
 * programs behave by what they find there.
 */
#ifndef CLI_VERB_RELAY_H
#define CLI_VERB_RELAY_H
#include "base/err.h"
#include <poll.h>
#include <stdbool.h>

enum { RELAY_BYTES = 64 * 1024 };

struct relay_way {
	int from, to; /* -1: there is nothing to carry, or nothing more */
	int pipe;     /* our end of the pipe, one of both; owned; -1: the command has the file */
	size_t most;  /* how much `to` takes at once without making anybody wait */
	size_t at, len;
	char bytes[RELAY_BYTES];
};

struct relay {
	int command[3]; /* what the command gets; owned where it is a pipe */
	struct relay_way ways[3];
	int failed;       /* errno of a write that failed, 0: none did */
	const char *what; /* to what it was */
};

int relay_open(struct relay *relay, struct err *e);
void relay_done(struct relay *relay);
/* What to wait for. */
void relay_want(const struct relay *relay, struct pollfd wanted[3]);
/* Carries what `wanted` says is ready. The command is held up where nobody takes what it writes. */
void relay_carry(struct relay *relay, const struct pollfd wanted[3]);
/* Whether all has been carried that the command had written; asked when it has ended. */
bool relay_is_empty(struct relay *relay);
#endif
