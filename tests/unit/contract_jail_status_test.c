/* contract: a jail's status line is read member by member; one of a wrong type is left out. */
#include "contract/jail_status.h"
#include "tests/kit/tap.h"

static void test_whole(void)
{
	AUTO_JAIL_STATUS status = jail_status_of(json_loads(
		"{\"exit\":null,\"signal\":9,\"timed_out\":true,\"wall_ms\":12,\"max_rss_kib\":34,"
		"\"cpu_ms\":5,\"layers\":{\"seccomp\":1},\"limit\":{\"memory_mb\":64},"
		"\"planted\":[{\"path\":\"/w/a\"}],\"left\":\"/w/b\",\"stuck\":true,"
		"\"stage\":\"exec\",\"errno\":2,\"error\":\"not found\"}",
		0, NULL));
	ok(status.given && !status.exit.known, "a command without an exit status");
	ok(status.signal.known && status.signal.value == 9, "that a signal killed");
	ok(status.timed_out && status.stuck, "the flags");
	is(status.wall_ms.value, 12, "its time");
	is(status.max_rss_kib.value, 34, "its memory");
	is(status.error_number.value, 2, "an errno");
	is_str(status.stage, "exec", "the stage");
	is_str(status.error, "not found", "the error");
	is_str(status.left, "/w/b", "a repository that is left");
	is(json_array_size(status.planted), 1, "one that it made");
	is(json_object_size(status.layers), 1, "a layer");
	is(json_object_size(status.limit), 1, "a limit");
	struct jail_status copy = jail_status_copy(&status);
	jail_status_done(&status);
	is_str(copy.left, "/w/b", "a copy outlives it");
	jail_status_done(&copy);
}

static void test_broken(void)
{
	static const char *const texts[] = {"[]", "7", "{}",
		"{\"exit\":\"0\",\"signal\":1.5,\"timed_out\":1,\"stage\":7,\"error\":{},\"left\":["
		"],"
		"\"planted\":{},\"layers\":[],\"limit\":1,\"stuck\":\"true\",\"errno\":null}"};
	AUTO_JAIL_STATUS none = jail_status_of(NULL);
	ok(!none.given && !none.exit.known, "no line");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_JAIL_STATUS status =
			jail_status_of(json_loads(texts[i], JSON_DECODE_ANY, NULL));
		ok(status.given && !status.exit.known && !status.signal.known &&
				!status.timed_out && !status.stage && !status.error &&
				!status.left && !status.planted && !status.layers &&
				!status.limit && !status.stuck && !status.error_number.known,
			"nothing is read of %s", texts[i]);
	}
}

int main(void)
{
	test_whole();
	test_broken();
	return tap_done();
}
