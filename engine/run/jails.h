/*
 * The run's resident launchers: one for each policy that its tool states use, the most recent few.
 * A launcher lives only from one tool state to the next: the files that its jail is built from must
 * not grow old while the machine waits or an agent works.
 */
#ifndef RUN_JAILS_H
#define RUN_JAILS_H
#include "launch/launcher.h"

enum { JAILS_MAX = 4 };

struct jails {
	struct jail_slot {
		char *policy; /* as text, owned; NULL: retired */
		struct launcher launcher;
	} slots[JAILS_MAX]; /* the most recent first */
	int count;
};

/* Returns the launcher for `policy`, and starts it if needed. NULL: it cannot be started. Valid
 * until the next call of any of these functions. */
struct launcher *jails_find(struct jails *jails, const struct jail_policy *policy, struct err *e);
/* Ends the launcher that jails_find returned last. */
void jails_drop(struct jails *jails);
/* Reports whether there is no launcher that could be returned. */
bool jails_none(const struct jails *jails);
/* Asks all launchers to end, and returns none of them again. */
void jails_retire(struct jails *jails);
/* Ends all launchers, and waits until they have. */
void jails_clear(struct jails *jails);
#endif
