/*
 * The status line of agent6-jail: how a command ended, or why its jail could not be made.
 *
 * A decoded status points into the object that it was decoded from, which it owns.
 */
#ifndef CONTRACT_JAIL_STATUS_H
#define CONTRACT_JAIL_STATUS_H
#include "contract/fact.h"

struct jail_status {
	bool given; /* there was a line */
	struct fact_number exit, signal, wall_ms, max_rss_kib;
	bool timed_out;
	const char *stage, *error;       /* where and why the jail failed; NULL: it did not */
	struct fact_number error_number; /* errno of that */
	json_t *limit;                   /* the limit that stopped the command, by its name */
	json_t *layers;                  /* of the confinement, by their names */
	json_t *planted;  /* repositories that the command made: [{path, to}]; NULL: none */
	const char *left; /* a repository that is left in place, or why none was looked for */
	bool stuck;       /* because of `left` no other command may begin */
	json_t *held;     /* owned */
};

#define AUTO_JAIL_STATUS __attribute__((cleanup(jail_status_done))) struct jail_status

/* Takes a line, which may be NULL, and decodes it. A member of a wrong type is left out. */
struct jail_status jail_status_of(json_t *line);
/* Returns a copy that has its own hold on the line. */
struct jail_status jail_status_copy(const struct jail_status *status);
void jail_status_done(struct jail_status *status);
#endif
