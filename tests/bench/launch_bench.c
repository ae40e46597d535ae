/* Commands a second: started bare, each by an agent6-jail of its own, and through one launcher. In
 * turns, so that a busy machine is the same for all three.
 *
 *   launch_bench      prints the three rates, medians; agent6-jail lies beside it
 */
#include "base/clock.h"
#include "base/io.h"
#include "launch/launcher.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ROUNDS = 21, TURN = 20, STATUS_BYTES = 65536 };

struct bench {
	struct jail_policy policy;
	struct launcher launcher;
	char *jail;
	int null_fd;
};

static void fail(const char *what)
{
	fprintf(stderr, "launch_bench: %s\n", what);
	exit(1);
}

static void run(const char *path, char *const argv[], const int *fds, int count)
{
	char *none[] = {NULL};
	struct err e = ERR_NONE;
	struct child child;
	struct child_spec spec = {path, argv, none, fds, count, true};
	if (child_start(&spec, &child, &e) || child_wait(&child))
		fail(path);
}

static void bare(struct bench *bench)
{
	char *argv[] = {(char[]){"true"}, NULL};
	int fds[] = {bench->null_fd, bench->null_fd, bench->null_fd};
	run("/usr/bin/true", argv, fds, 3);
}

/* Until the status is there, as the engine waits. */
static void expect_end(int status_fd)
{
	char line[STATUS_BYTES];
	ssize_t n = read(status_fd, line, sizeof(line) - 1);
	line[n > 0 ? n : 0] = '\0';
	if (!strstr(line, "\"exit\":0"))
		fail(line);
}

static void alone(struct bench *bench)
{
	int ends[2];
	json_auto_t *argv_once = json_pack("[s]", "/usr/bin/true");
	struct jail_order once = {.argv = argv_once, .timeout_secs = 60};
	AUTO_FREE char *text = jail_policy_text(&bench->policy, &once);
	AUTO_FD int policy_fd = io_memory_file("policy", text, strlen(text), NULL);
	if (policy_fd < 0 || pipe2(ends, O_CLOEXEC))
		fail("no descriptors");
	char *argv[] = {(char[]){"agent6-jail"}, (char[]){"--status-fd"}, (char[]){"3"}, NULL};
	int fds[] = {policy_fd, bench->null_fd, bench->null_fd, ends[1]};
	run(bench->jail, argv, fds, 4);
	expect_end(ends[0]);
	close(ends[0]);
	close(ends[1]);
}

static void through(struct bench *bench)
{
	static const char order[] = "{\"argv\":[\"/usr/bin/true\"]}";
	int ends[2];
	struct err e = ERR_NONE;
	if (pipe2(ends, O_CLOEXEC))
		fail("no descriptors");
	int fds[] = {bench->null_fd, bench->null_fd, bench->null_fd, ends[1]};
	if (launcher_order(&bench->launcher, order, strlen(order), fds, &e))
		fail(e.text);
	close(ends[1]);
	expect_end(ends[0]);
	close(ends[0]);
}

static int64_t turn(struct bench *bench, void (*one)(struct bench *bench))
{
	int64_t from = clock_realtime_us();
	for (int i = 0; i < TURN; i++)
		one(bench);
	return clock_realtime_us() - from;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	static void (*const ways[])(struct bench * b) = {bare, alone, through};
	int64_t us[ARRAY_LEN(ways)][ROUNDS];
	struct err e = ERR_NONE;
	AUTO_FREE char *at = getcwd(NULL, 0);
	struct bench b = {.jail = child_sibling("agent6-jail", &e),
		.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC),
		.policy = jail_policy_of(JAIL_STRICT, at, JAIL_WRITE)};
	if (!b.jail || launcher_start(&b.policy, -1, &b.launcher, &e))
		fail(e.text);
	for (int i = 0; i < ROUNDS; i++)
		for (size_t way = 0; way < ARRAY_LEN(ways); way++)
			us[way][i] = turn(&b, ways[way]);
	launcher_stop(&b.launcher);
	for (size_t way = 0; way < ARRAY_LEN(ways); way++) {
		qsort(us[way], ROUNDS, sizeof(us[way][0]), by_size);
		printf("%.0f%s", TURN * 1e6 / (double)us[way][ROUNDS / 2],
			way + 1 < ARRAY_LEN(ways) ? " " : "\n");
	}
	free(b.jail);
	close(b.null_fd);
	return 0;
}
