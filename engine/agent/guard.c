#include "agent/guard.h"

#include <string.h>

static void sign(unsigned char out[SHA256_BYTES], const char *name, const char *arguments,
	const char *result)
{
	struct sha256 s;
	sha256_init(&s);
	/* The NULs keep the end of one part from passing for the beginning of the next. */
	sha256_add(&s, name, strlen(name) + 1);
	sha256_add(&s, arguments, strlen(arguments) + 1);
	sha256_add(&s, result, strlen(result));
	sha256_end(&s, out);
}

enum guard_verdict guard_call(
	struct guard *guard, const char *name, const char *arguments, const char *result)
{
	struct guard_seen *mine = &guard->seen[guard->count % GUARD_WINDOW];
	*mine = (struct guard_seen){.command = !strcmp(name, "run_command")};
	sign(mine->sign, name, arguments, result);
	guard->count++;
	size_t kept = guard->count < GUARD_WINDOW ? guard->count : GUARD_WINDOW, equal = 0;
	for (size_t i = 0; i < kept; i++)
		equal += !guard->seen[i].forgotten &&
			 !memcmp(guard->seen[i].sign, mine->sign, SHA256_BYTES);
	if (equal < GUARD_REPEATS)
		return GUARD_GO_ON;
	bool again = guard->warned;
	guard->warned = true;
	return again ? GUARD_STOP : GUARD_WARN;
}

void guard_progress(struct guard *guard, bool command)
{
	for (size_t i = 0; i < GUARD_WINDOW; i++)
		guard->seen[i].forgotten |= !command || !guard->seen[i].command;
}

enum guard_verdict guard_turn(struct guard *guard, bool quiet)
{
	guard->quiet_turns = quiet ? guard->quiet_turns + 1 : 0;
	if (guard->quiet_turns < GUARD_QUIET_TURNS)
		return GUARD_GO_ON;
	return guard->quiet_turns == GUARD_QUIET_TURNS ? GUARD_WARN : GUARD_STOP;
}
