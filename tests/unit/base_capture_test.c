/* base: a program run for what it prints. */
#include "base/capture.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

struct outcome {
	struct buf out, diagnostics;
	struct err e;
	int status;
};

static void run(struct outcome *outcome, const char *script, int deadline_ms, size_t cap)
{
	char text[400];
	snprintf(text, sizeof(text), "%s", script);
	char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, text, NULL};
	char *env[] = {(char[]){"ONLY=this"}, (char[]){"PATH=/usr/bin:/bin"}, NULL};
	struct capture_spec spec = {.argv = argv,
		.env = env,
		.stdin_fd = -1,
		.deadline_ms = deadline_ms,
		.own_session = true};
	*outcome = (struct outcome){.e = ERR_NONE};
	buf_init(&outcome->out, cap);
	buf_init(&outcome->diagnostics, cap);
	outcome->status = capture_run(&spec, &outcome->out, &outcome->diagnostics, &outcome->e);
}

static void done(struct outcome *outcome)
{
	buf_done(&outcome->out);
	buf_done(&outcome->diagnostics);
}

static void expect_killed(const char *script, const char *name)
{
	struct outcome o;
	run(&o, script, 300, 1000);
	is(o.status, -1, "%s", name);
	is(o.e.number, ETIMEDOUT, "%s: its cause", name);
	is_str(o.e.text, "/bin/sh did not end within 0 seconds", "%s: why", name);
	done(&o);
}

int main(void)
{
	struct outcome o;
	run(&o, "cat; echo $ONLY $HOME; echo oops >&2; exit 3", 20000, 1000);
	ok(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 3, "its exit status");
	is_str(o.out.data, "this\n", "what it printed; its input is empty");
	is_str(o.diagnostics.data, "oops\n", "and its diagnostics");
	done(&o);

	run(&o, "head -c 1000 /dev/zero; head -c 5000 /dev/zero >&2", 20000, 1000);
	is(o.status, 0, "exactly as much as allowed");
	is(o.out.len, 1000, "all of it");
	ok(o.diagnostics.len <= 1000, "diagnostics are cut, not refused");
	done(&o);

	run(&o, "head -c 1001 /dev/zero; sleep 60", 20000, 1000);
	is(o.status, -1, "a byte more is refused");
	is(o.e.number, EFBIG, "as too much");
	is_str(o.e.text, "/bin/sh printed more than 1000 bytes", "and nothing else");
	done(&o);

	expect_killed("sleep 60", "a program that does not end");
	expect_killed("exec >&- 2>&-; sleep 60", "one that closes its output and does not end");
	expect_killed("sleep 60 & exit 0", "one whose child keeps the output");
	expect_killed("trap '' TERM; while :; do :; done", "one that ignores signals");

	char *argv[] = {(char[]){"/nonexistent"}, NULL}, *env[] = {NULL};
	struct capture_spec spec = {.argv = argv, .env = env, .stdin_fd = -1, .deadline_ms = 1000};
	struct buf out, diagnostics;
	struct err e = ERR_NONE;
	buf_init(&out, 10);
	buf_init(&diagnostics, 10);
	is(capture_run(&spec, &out, &diagnostics, &e), -1, "no such program");
	is(e.number, ENOENT, "its errno");
	return tap_done();
}
