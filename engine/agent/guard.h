/*
 * Loop guards: detect that a model repeats itself, and that it goes on after a warning.
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

/* Records a call and its result. The third equal pair within the window warns, the next one
 * stops. */
enum guard_verdict guard_call(
	struct guard *guard, const char *name, const char *arguments, const char *result);
/* Forgets the calls: something has changed, so repeating a call makes sense. A change by a
 * `command` does not excuse repeating other commands. */
void guard_progress(struct guard *guard, bool command);
/* Records a turn without a call (`quiet`) or with one. The third quiet turn in a row warns, the
 * next one stops. */
enum guard_verdict guard_turn(struct guard *guard, bool quiet);
#endif
