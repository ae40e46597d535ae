#include "launch/ending.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { TRIES = 3, PAUSE_MS = 50 };

static bool is_told(const struct jail_status *status)
{
	return status->exit.known || status->signal.known || status->timed_out;
}

enum ending ending_of(const struct jail_status *status, struct err *why)
{
	/* These stages depend on the policy, the caller and the kernel, which stay the same in both
	 * profiles. */
	static const char *const for_good[] = {"policy", "layout", "privileges", "require"};
	const char *stage = status->stage, *error = status->error;
	if (!stage && is_told(status))
		return ENDING_RAN;
	if (!stage || !strcmp(stage, "wait")) {
		err_set(why, "%s", error ? error : "agent6-jail was killed");
		return ENDING_LOST;
	}
	err_set(why, "at %s: %s", stage, error ? error : "without a reason");
	if (why)
		why->number = (int)status->error_number.value;
	for (size_t i = 0; i < ARRAY_LEN(for_good); i++)
		if (!strcmp(stage, for_good[i]))
			return ENDING_WRONG;
	return ENDING_UNMADE;
}

bool ending_limit(const struct jail_status *status, char *out, size_t size)
{
	static const struct {
		const char *name, *words;
	} limits[] = {{"memory_mb", "it ran out of memory"},
		{"cpu_secs", "its CPU time was used up"},
		{"file_mb", "a file that it wrote became too long"},
		{"processes", "it had all the processes that it may have"}};
	*out = '\0';
	for (size_t i = 0; !*out && i < ARRAY_LEN(limits); i++) {
		const json_t *value = json_object_get(status->limit, limits[i].name);
		if (json_is_integer(value))
			snprintf(out, size, "%s (limits.%s: %lld)", limits[i].words, limits[i].name,
				(long long)json_integer_value(value));
	}
	return *out;
}

bool ending_again(int tries)
{
	if (tries >= TRIES)
		return false;
	poll(NULL, 0, PAUSE_MS);
	return true;
}
