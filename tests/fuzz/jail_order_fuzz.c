/*
 * The orders of a launcher's jails, one a line: whatever the bytes, a jail takes an order whole, or
 * refuses it with a reason. A jail has handled a made-up order before the real one comes, as it
 * does here.
 */
#include "jail/policy.h"
#include "tests/fuzz/lines_fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char policy_text[] =
	"{\"version\":1,\"profile\":\"strict\",\"cwd\":\"/w\",\"workspace\":{\"path\":\"/w\","
	"\"access\":\"write\"},\"argv\":[\"true\"],\"timeout_secs\":5,"
	"\"env\":{\"LANG\":\"C\",\"A\":\"1\"}}";

static const char any_text[] = "{\"argv\":[\"true\"]}";

static void require(bool held)
{
	if (!held)
		abort();
}

static void check_env(json_t *env)
{
	const char *name;
	json_t *value;
	require(json_is_string(json_object_get(env, "LANG")));
	json_object_foreach (env, name, value)
		require(*name && !strchr(name, '=') && json_is_string(value));
}

static void take(const char *line, size_t len)
{
	struct policy p;
	struct err e = ERR_NONE;
	require(!policy_decode(policy_text, sizeof(policy_text) - 1, &p, &e));
	require(!policy_order(&p, any_text, sizeof(any_text) - 1, &e));
	if (policy_order(&p, line, len, &e)) {
		require(*e.text);
	} else {
		require(json_array_size(p.argv) && p.timeout_secs >= 1 && !*e.text);
		require(json_string_length(json_array_get(p.argv, 0)) > 0);
		check_env(p.env);
		require(!strcmp(p.cwd, "/w") && p.access == ACCESS_WRITE);
	}
	policy_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	lines_each(data, len, take);
	return 0;
}
