/*
 * Endings: judges the status line of an agent6-jail that did not end well, and whether another jail
 * is worth a try. The stages are the jail's own (jail/main.c).
 */
#ifndef LAUNCH_ENDING_H
#define LAUNCH_ENDING_H
#include "contract/jail_status.h"

enum { ENDING_LIMIT_BYTES = 160 };

enum ending {
	ENDING_RAN,   /* the command ran, and the line tells how it ended */
	ENDING_LOST,  /* the command was started, or may have been; its end is unknown */
	ENDING_WRONG, /* nothing ran: the request is refused, and will be again */
	ENDING_UNMADE /* nothing ran: the cause may be temporary */
};

/* Judges a status line, and fills `why` unless the command ran, with the jail's errno if nothing
 * ran. */
enum ending ending_of(const struct jail_status *status, struct err *why);
/* Writes which limit stopped the command, such as "it ran out of memory (limits.memory_mb: 64)".
 * Returns false, and "", if none did. */
bool ending_limit(const struct jail_status *status, char *out, size_t size);
/* Reports whether to try again after `tries` jails that could not be made, and waits a moment if
 * so. */
bool ending_again(int tries);
#endif
