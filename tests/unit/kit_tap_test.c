/* The test kit itself: a check that does not hold is reported, counted and explained. */
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <sys/wait.h>

static bool fails(void)
{
	return false;
}

static int failing_program(void)
{
	is(1, 2, "numbers");
	is_str("a", NULL, "strings");
	is_mem("ab", 2, "ac", 2, "bytes");
	has_str("abc", "x", "parts");
	ends(fails, "work");
	ok(true, "one holds, # and \n are kept out of the line");
	return tap_done();
}

/* Runs `program` in a child that starts its own numbering; its output as text. */
static int run_child(int (*program)(void), char *out, size_t size)
{
	char path[600];
	snprintf(path, sizeof path, "%s/out", tap_scratch());
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		AUTO_FD int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
		dup2(fd, 1);
		_exit(program());
	}
	int status = -1;
	waitpid(pid, &status, 0);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, out, size - 1);
	out[len > 0 ? len : 0] = '\0';
	return status;
}

int main(void)
{
	char out[4096];
	int status = run_child(failing_program, out, sizeof out);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 1, "a failed check fails the program");
	has_str(out, "not ok 1 - numbers", "the result line");
	has_str(out, "got 1, want 2", "both numbers are shown");
	has_str(out, "# failed at tests/unit/kit_tap_test.c:", "the place is shown");
	has_str(out, "they differ at byte 1", "bytes are compared");
	has_str(out, "got  2 bytes, from 0: ab", "and shown");
	has_str(out, "not ok 4 - parts", "each failure is counted");
	has_str(out, "not ok 5 - work", "work that does not hold, too");
	has_str(out, "ok 6 - one holds,   and   are kept", "a name stays on one line");
	has_str(out, "1..6", "the plan comes last");
	return tap_done();
}
