/*
 * The relay: pipes between a jailed command and the files that agent6 has as standard input, output
 * and error. A process with an open file can change its mode and times, truncate it, and read it
 * again, whatever the jail says.
 *
 * A terminal, a pipe, a socket and a character device such as /dev/null are passed on unchanged:
 * programs adapt to them.
 */
#ifndef CLI_VERB_RELAY_H
#define CLI_VERB_RELAY_H
#include "base/err.h"
#include <poll.h>
#include <stdbool.h>

enum { RELAY_BYTES = 64 * 1024 };

struct relay_way {
	int from, to; /* -1: nothing to carry, or the end was reached */
	/* Our end of the pipe, one of the two; owned; -1: the command has the file itself. */
	int pipe;
	size_t most; /* bytes that `to` takes at once without blocking */
	size_t at, len;
	char bytes[RELAY_BYTES];
};

struct relay {
	int command[3]; /* the command's descriptors; owned if a pipe */
	struct relay_way ways[3];
	int failed;       /* errno of a failed write; 0: none */
	const char *what; /* the file of that write */
};

int relay_open(struct relay *relay, struct err *e);
void relay_done(struct relay *relay);
/* Sets the events to wait for. */
void relay_want(const struct relay *relay, struct pollfd wanted[3]);
/* Carries the bytes that are ready according to `wanted`. Blocks the command if nobody takes its
 * output. */
void relay_carry(struct relay *relay, const struct pollfd wanted[3]);
/* Reports whether everything that the command wrote has been carried; call it after its end. */
bool relay_is_empty(struct relay *relay);
#endif
