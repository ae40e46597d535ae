/*
 * The run's resident launchers: one for each policy that its tool states ask for, the most recent
 * few of them. They wait only from one tool state to the next: what a jail was built from must not
 * grow old while the machine waits or an agent works.
 */
#ifndef RUN_JAILS_H
#define RUN_JAILS_H
#include "launch/launcher.h"

enum { JAILS_MAX = 4 };

struct jails {
	struct jail_slot {
		json_t *policy; /* owned; NULL: retired */
		struct launcher launcher;
	} slots[JAILS_MAX]; /* the most recent first */
	int count;
};

/* The launcher for `policy`, started unless it is there. NULL: it cannot be started. Valid until
 * the next call of any of these. */
struct launcher *jails_find(struct jails *jails, const json_t *policy, struct err *e);
/* Ends the one that jails_find gave last. */
void jails_drop(struct jails *jails);
/* Whether there is none to be given. */
bool jails_none(const struct jails *jails);
/* Asks all to end, and gives none of them again. */
void jails_retire(struct jails *jails);
/* Ends all; returns when nothing of them is left. */
void jails_clear(struct jails *jails);
#endif
