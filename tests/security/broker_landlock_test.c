/* A broker on a kernel without Landlock says so before anything else, on its control descriptor and
 * to people, and the agent passes it on; with Landlock it has nothing to say. */
#include "base/child.h"
#include "base/json.h"
#include "tests/kit/agent.h"
#include "tests/kit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From here on this process and its children live on a kernel without Landlock. */
static void take_landlock_away(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter ||
		seccomp_rule_add(
			filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0) ||
		seccomp_load(filter))
		bail("cannot load a seccomp filter");
	seccomp_release(filter);
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) != -1 || errno != ENOSYS)
		bail("Landlock is still there");
}

/* All that a broker without work writes to its control descriptor and to standard error. */
static void run_broker(char *facts, char *words, size_t size)
{
	int channel[2], control[2], said[2];
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/agent6-broker", getenv("AGENT6_BIN")) < 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) ||
		pipe2(control, O_CLOEXEC) || pipe2(said, O_CLOEXEC))
		bail("cannot set the stage");
	char *argv[] = {(char[]){"agent6-broker"}, (char[]){"--channel"},
		(char[]){"3=127.0.0.1:9,plain"}, (char[]){"--control"}, (char[]){"4"}, NULL};
	char *env[] = {NULL};
	int fds[] = {0, 1, said[1], channel[1], control[1]};
	struct child_spec spec = {
		.path = path, .argv = argv, .env = env, .fds = fds, .fd_count = 5};
	struct child broker;
	struct err e = ERR_NONE;
	if (child_start(&spec, &broker, &e))
		bail("%s", e.text);
	close(channel[1]);
	close(control[1]);
	close(said[1]);
	close(channel[0]);
	is(child_wait(&broker), 0, "the broker ends well");
	ssize_t n = read(control[0], facts, size - 1), m = read(said[0], words, size - 1);
	facts[n > 0 ? n : 0] = words[m > 0 ? m : 0] = '\0';
	close(control[0]);
	close(said[0]);
}

static void test_broker(bool landlock)
{
	char facts[1024], words[1024];
	run_broker(facts, words, sizeof(facts));
	if (landlock) {
		is_str(facts, "", "with Landlock the broker reports no weakness");
		is_str(words, "", "nor does it complain");
		return;
	}
	json_auto_t *line = json_read(facts, strcspn(facts, "\n"), sizeof(facts), NULL);
	const char *notice = json_string_value(json_object_get(line, "notice"));
	has_str(notice ? notice : facts, "no Landlock", "without it the control line says so");
	has_str(words, "agent6-broker: no Landlock", "and so does standard error");
}

static size_t notices(const struct kit *kit)
{
	size_t i, count = 0;
	json_t *event;
	json_array_foreach (kit->events, i, event) {
		const char *text = json_string_value(json_object_get(event, "text"));
		count += text && strstr(text, "Landlock");
	}
	return count;
}

static void test_agent(bool landlock)
{
	AUTO_KIT k = {.format = "anthropic", .replies = {{KIT_FINISH, 0, 0}}};
	kit_run(&k);
	is_str(kit_outcome(&k), "ok", "a strict agent works %s Landlock: %s",
		landlock ? "with" : "without", kit_reason(&k));
	is(notices(&k), landlock ? 0 : 1, "its supervisor is told as often as needed");
}

int main(void)
{
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 4) {
		skip("this kernel's Landlock has no rules for ports");
	} else {
		test_broker(true);
		test_agent(true);
	}
	take_landlock_away();
	test_broker(false);
	test_agent(false);
	return tap_done();
}
