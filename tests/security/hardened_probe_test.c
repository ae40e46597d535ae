/*
 * The start-up probe of the hardened profile: on a kernel that says yes to the jail's filters and
 * leaves them out, no machine starts; on this one it does. Each attempt it makes is shown to get
 * through where nothing stands in its way.
 */
#include "base/io.h"
#include "confine/offline.h"
#include "tests/kit/tap.h"
#include "tests/kit/tree.h"

#include <fcntl.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { SAID_BYTES_MAX = 65536, NOT_SET_UP = 250 };

static const char machine[] =
	"machine: offline\nversion: 1\ninitial: work\nbudget: {max_transitions: 2}\nstates:\n"
	"  work: {kind: tool, command: [\"true\"], timeout_secs: 20,\n"
	"    on: {ok: good, nonzero: good, timeout: good}}\n"
	"  good: {kind: terminal, status: ok, reason: good}\n";

/* From here on filters are taken and forgotten, for this process and what it starts. */
static int take_filters_away(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	return !filter || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(seccomp), 0) ||
	       seccomp_load(filter);
}

struct said {
	int status;
	char text[SAID_BYTES_MAX];
};

static void run(char *const argv[], bool filters, struct said *out)
{
	int ends[2], status;
	struct err e = ERR_NONE;
	AUTO_BUF text;
	buf_init(&text, SAID_BYTES_MAX);
	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC))
		bail("no pipe");
	pid_t pid = fork();
	if (pid == 0) {
		if (dup2(ends[1], 1) < 0 || dup2(ends[1], 2) < 0 ||
			chdir(tree_path(tap_scratch(), "work")) ||
			(!filters && take_filters_away()))
			_exit(NOT_SET_UP);
		execv(argv[0], argv);
		_exit(NOT_SET_UP);
	}
	close(ends[1]);
	if (io_read_all(ends[0], &text, "the program", &e))
		diag("%s", e.text);
	close(ends[0]);
	waitpid(pid, &status, 0);
	out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	snprintf(out->text, sizeof(out->text), "%s", text.data);
}

static void start(const char *id, bool filters, struct said *out)
{
	AUTO_FREE char *program = NULL;
	if (asprintf(&program, "%s/agent6", getenv("AGENT6_BIN")) < 0)
		bail("out of memory");
	char *argv[] = {program, (char[]){"machine"}, (char[]){"run"}, (char[]){"--json"},
		(char[]){"--allow-root"}, (char[]){"--allow-root-jail"}, (char[]){"--id"},
		(char *)(uintptr_t)id, (char[]){"../bundle"}, NULL};
	run(argv, filters, out);
}

static void test_start(void)
{
	struct said said;
	start("held", true, &said);
	if (!is(said.status, 0, "hardened starts where the filter is one"))
		diag("%s", said.text);
	start("lied", false, &said);
	is(said.status, 125, "and does not where it is none");
	has_str(said.text, "sandbox.profile hardened does not hold here", "it names the setting");
	has_str(said.text, "can open a socket of family 2", "and what got through");
	has_str(said.text, "use sandbox.profile strict", "and what to do");
	ok(!strstr(said.text, "\"t\":\"begin\""), "nothing was begun");
}

static void test_attempts(void)
{
	struct offline target = {.listen_fd = -1};
	struct err e = ERR_NONE;
	struct said said;
	AUTO_FREE char *program = NULL;
	if (offline_open(&target, &e) || asprintf(&program, "%s/agent6", getenv("AGENT6_BIN")) < 0)
		bail("%s", e.text);
	char *argv[] = {program, (char[]){"check"}, (char[]){"sandbox"}, (char[]){"--offline"},
		target.name, NULL};
	run(argv, true, &said);
	is(said.status, 1, "with nothing in their way the attempts get through");
	has_str(said.text, "a socket of family 2", "IPv4");
	has_str(said.text, "a socket of family 10", "IPv6");
	has_str(said.text, "a socket of family 16", "netlink");
	has_str(said.text, "an abstract socket of this host", "an abstract socket");
	struct fact quiet = {.kind = FACT_TOOL, .tool = {.output = "nothing"}};
	is(offline_judge(&target, &quiet, &e), -1,
		"who was called does not believe that nobody did");
	is(offline_judge(&target, &quiet, &e), 0, "and has nothing to say when nobody did");
	quiet.tool.output = "";
	is(offline_judge(&target, &quiet, &e), -1,
		"a probe that says nothing at all proves nothing");
	offline_close(&target);
}

int main(void)
{
	tree_file(tap_scratch(), "bundle/machine.yaml", machine, 0644);
	tree_file(
		tap_scratch(), "config/agent6/config.yaml", "sandbox: {profile: hardened}\n", 0644);
	tree_dir(tap_scratch(), "work");
	setenv("XDG_CONFIG_HOME", tree_path(tap_scratch(), "config"), 1);
	setenv("AGENT6_STATE_HOME", tree_path(tap_scratch(), "state"), 1);
	test_attempts();
	if (tap_can_harden("a start"))
		test_start();
	return tap_done();
}
