/*
 * Loop guards: notices when a model runs in circles, and when it has been told and still does.
 */
#ifndef AGENT_GUARD_H
#define AGENT_GUARD_H
#include "base/sha256.h"
#include <stdbool.h>
#include <stddef.h>

enum { GUARD_WINDOW = 12, GUARD_REPEATS = 3, GUARD_QUIET_TURNS = 3 };

enum guard_verdict { GUARD_GO_ON, GUARD_WARN, GUARD_STOP };

struct guard {
	struct guard_seen {
		unsigned char sign[SHA256_BYTES];
		bool command, forgotten;
	} seen[GUARD_WINDOW];
	size_t count;       /* calls recorded, the newest GUARD_WINDOW are kept */
	size_t quiet_turns; /* in a row */
	bool warned;
};

/* Records a call and its result. The third equal pair within the window warns, one more stops. */
enum guard_verdict guard_call(
	struct guard *guard, const char *name, const char *arguments, const char *result);
/* Forgets the calls: something has changed, so repeating one is no circle. What a `command` may
 * have changed makes no other command worth repeating. */
void guard_progress(struct guard *guard, bool command);
/* Records a turn without a call (`quiet`) or with one. The third in a row warns, one more stops. */
enum guard_verdict guard_turn(struct guard *guard, bool quiet);
#endif
