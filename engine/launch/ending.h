/*
 * What the status line of agent6-jail says of a jail that came to nothing, and whether another one
 * is worth a try. The stages are the jail's own (jail/main.c).
 */
#ifndef LAUNCH_ENDING_H
#define LAUNCH_ENDING_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>

enum { ENDING_LIMIT_BYTES = 160 };

enum ending {
	ENDING_RAN,   /* the command ran, and the line says how it ended */
	ENDING_LOST,  /* it was let go, or may have been; how it ended nobody knows */
	ENDING_WRONG, /* nothing ran: what was asked for is refused, and will be again */
	ENDING_UNMADE /* nothing ran: what was in the way may pass */
};

/* Fills `why` unless it ran. NULL: there was no status line. */
enum ending ending_of(const json_t *status, struct err *why);
/* Says which limit stopped the command, "it ran out of memory (limits.memory_mb: 64)". False, and
 * "": none did. */
bool ending_limit(const json_t *status, char *out, size_t size);
/* Whether to try again after `tries` jails that were not made; waits a moment first. */
bool ending_again(int tries);
#endif
