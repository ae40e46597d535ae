/*
 * A jail's status line, or an agent's report of one, any bytes: it is judged with a reason unless
 * the command ran, and what is passed on of it is bounded and comes back the same.
 */
#include "base/json.h"
#include "contract/jail_status.h"
#include "launch/ending.h"
#include "launch/planted.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { LINE_BYTES_MAX = 65536 };

static void require(bool held)
{
	if (!held)
		abort();
}

static void check_ending(const struct jail_status *status)
{
	struct err why = ERR_NONE;
	char limit[ENDING_LIMIT_BYTES];
	enum ending ending = ending_of(status, &why);
	require((ending == ENDING_RAN) == !*why.text);
	if (ending == ENDING_RAN)
		require(status->exit.known || status->signal.known || status->timed_out);
	require(ending_limit(status, limit, sizeof(limit)) == (*limit != '\0'));
	require(strlen(limit) < sizeof(limit));
}

static void check_planted(const struct jail_status *status)
{
	size_t i;
	const json_t *one;
	json_t *report = planted_checked(status);
	AUTO_JAIL_STATUS checked = jail_status_of(json_incref(report));
	require(!checked.left || strlen(checked.left) < PATH_MAX);
	require(checked.stuck == status->stuck);
	json_array_foreach (checked.planted, i, one)
		require(*json_get_text(one, "path") || json_object_get(one, "path"));
	json_auto_t *again = planted_checked(&checked);
	require(json_equal(report, again));
	json_decref(report);
}

static void check_lost(const struct jail_status *status)
{
	AUTO_BUF reason = BUF_INIT(1 << 20);
	AUTO_JAIL_STATUS lost = planted_of_lost(status);
	require(status->stage || planted_stuck(&lost));
	bool any = planted_reason(&lost, PLANTED_IN_TMP, &reason);
	require(any == (reason.len > 0 || reason.failed));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	AUTO_JAIL_STATUS status =
		jail_status_of(json_read((const char *)data, len, LINE_BYTES_MAX, NULL));
	check_ending(&status);
	check_planted(&status);
	check_lost(&status);
	return 0;
}
