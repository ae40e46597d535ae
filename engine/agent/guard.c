#include "agent/guard.h"

#include <string.h>

static void sign(unsigned char out[SHA256_BYTES], const char *name, const char *arguments,
	const char *result)
{
	struct sha256 s;
	sha256_init(&s);
	/* The NULs keep one part's end from passing for another's beginning. */
	sha256_add(&s, name, strlen(name) + 1);
	sha256_add(&s, arguments, strlen(arguments) + 1);
	sha256_add(&s, result, strlen(result));
	sha256_end(&s, out);
}

enum guard_verdict guard_call(
	struct guard *g, const char *name, const char *arguments, const char *result)
{
	struct guard_seen *mine = &g->seen[g->count % GUARD_WINDOW];
	*mine = (struct guard_seen){.command = !strcmp(name, "run_command")};
	sign(mine->sign, name, arguments, result);
	g->count++;
	size_t kept = g->count < GUARD_WINDOW ? g->count : GUARD_WINDOW, equal = 0;
	for (size_t i = 0; i < kept; i++)
		equal +=
			!g->seen[i].forgotten && !memcmp(g->seen[i].sign, mine->sign, SHA256_BYTES);
	if (equal < GUARD_REPEATS)
		return GUARD_GO_ON;
	bool again = g->warned;
	g->warned = true;
	return again ? GUARD_STOP : GUARD_WARN;
}

void guard_progress(struct guard *g, bool command)
{
	for (size_t i = 0; i < GUARD_WINDOW; i++)
		g->seen[i].forgotten |= !command || !g->seen[i].command;
}

enum guard_verdict guard_turn(struct guard *g, bool quiet)
{
	g->quiet_turns = quiet ? g->quiet_turns + 1 : 0;
	if (g->quiet_turns < GUARD_QUIET_TURNS)
		return GUARD_GO_ON;
	return g->quiet_turns == GUARD_QUIET_TURNS ? GUARD_WARN : GUARD_STOP;
}
