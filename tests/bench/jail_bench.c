/*
 * One jailed /usr/bin/true, started in every way there is, in turns: a busy machine is then the
 * same for all of them. agent6-jail lies beside this program.
 *
 *   jail_bench turns N GAP_US PEER...
 *
 * N of each with a gap before each, as between the commands of an agent: NAME MEDIAN_US LEAST_US.
 *
 *   jail_bench rate N PEER...
 *
 * Two workers, N each at a time and no gap: NAME MEDIAN_PER_SECOND.
 *
 * PEER... is the command line that starts bubblewrap.
 */
#include "base/io.h"
#include "launch/launcher.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { STATUS_BYTES = 65536, RUNS_MAX = 10000, WORKERS = 2, RATES = 5 };

struct way {
	const char *name, *profile; /* profile NULL: `argv` as it is */
	bool resident;
	char *const *argv;
	struct launcher launcher;
	int policy_fd;
	double us[RUNS_MAX];
	double rates[RATES];
};

static int null_fd;

static void fail(const char *what)
{
	fprintf(stderr, "jail_bench: %s\n", what);
	exit(1);
}

static double now_us(void)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static void start_and_wait(char *const *argv)
{
	pid_t pid;
	int status;
	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) ||
		waitpid(pid, &status, 0) != pid || status)
		fail(argv[0]);
}

/* Until the status descriptor's end: nothing of the command is left then. */
static void order_and_wait(struct launcher *launcher)
{
	static const char order[] = "{\"argv\":[\"/usr/bin/true\"]}";
	char line[STATUS_BYTES];
	ssize_t got, len = 0;
	int ends[2];
	struct err e = ERR_NONE;
	if (pipe2(ends, O_CLOEXEC))
		fail("no descriptors");
	int fds[LAUNCHER_FDS] = {null_fd, null_fd, null_fd, ends[1]};
	if (launcher_order(launcher, order, strlen(order), fds, &e))
		fail(e.text);
	close(ends[1]);
	while ((got = read(ends[0], line + len, sizeof(line) - 1 - (size_t)len)) > 0)
		len += got;
	line[len] = '\0';
	close(ends[0]);
	if (!strstr(line, "\"exit\":0"))
		fail(line);
}

static void once(struct way *way)
{
	if (way->resident)
		order_and_wait(&way->launcher);
	else
		start_and_wait(way->argv);
}

static void prepare(struct way *way, const char *dir)
{
	struct err e = ERR_NONE;
	struct jail_policy policy = jail_policy_of(
		way->profile ? jail_profile_find(way->profile) : JAIL_STRICT, dir, JAIL_WRITE);
	policy.allow_root_jail = true;
	json_auto_t *argv_once = json_pack("[s]", "/usr/bin/true");
	struct jail_order once = {.argv = argv_once, .timeout_secs = 60};
	AUTO_FREE char *text = jail_policy_text(&policy, &once);
	way->policy_fd = io_memory_file("policy", text, strlen(text), &e);
	if (way->policy_fd < 0 ||
		(way->resident && launcher_start(&policy, -1, &way->launcher, &e)))
		fail(e.text);
	if (!way->profile || way->resident)
		return;
	char **argv = calloc(4, sizeof(*argv));
	argv[0] = child_sibling("agent6-jail", &e);
	argv[1] = strdup("--policy");
	if (!argv[0] || asprintf(&argv[2], "/proc/%d/fd/%d", (int)getpid(), way->policy_fd) < 0)
		fail(e.text);
	way->argv = argv;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void turns(struct way *ways, size_t count, int runs, int gap_us)
{
	for (int i = 0; i < runs; i++) {
		for (size_t n = 0; n < count; n++) {
			usleep((useconds_t)gap_us);
			double from = now_us();
			once(&ways[n]);
			ways[n].us[i] = now_us() - from;
		}
	}
	for (size_t n = 0; n < count; n++) {
		qsort(ways[n].us, (size_t)runs, sizeof(ways[n].us[0]), by_size);
		printf("%s %.0f %.0f\n", ways[n].name, ways[n].us[runs / 2], ways[n].us[0]);
	}
}

static double rate(struct way *way, int runs)
{
	pid_t workers[WORKERS];
	double from = now_us();
	fflush(stdout);
	for (int n = 0; n < WORKERS; n++) {
		workers[n] = fork();
		for (int i = 0; !workers[n] && i < runs; i++)
			once(way);
		if (!workers[n])
			_exit(0);
	}
	for (int n = 0; n < WORKERS; n++) /* the resident launchers are children too */
		waitpid(workers[n], NULL, 0);
	return WORKERS * runs * 1e6 / (now_us() - from);
}

static void rates(struct way *ways, size_t count, int runs)
{
	for (int i = 0; i < RATES; i++)
		for (size_t n = 0; n < count; n++)
			ways[n].rates[i] = rate(&ways[n], runs);
	for (size_t n = 0; n < count; n++) {
		qsort(ways[n].rates, RATES, sizeof(ways[n].rates[0]), by_size);
		printf("%s %.0f\n", ways[n].name, ways[n].rates[RATES / 2]);
	}
}

int main(int argc, char **argv)
{
	static char true_path[] = "/usr/bin/true";
	static char *floor_argv[] = {true_path, NULL};
	static struct way ways[] = {{.name = "floor", .argv = floor_argv}, {.name = "bwrap"},
		{.name = "strict", .profile = "strict"},
		{.name = "hardened", .profile = "hardened"},
		{.name = "serve", .profile = "strict", .resident = true},
		{.name = "serve-hardened", .profile = "hardened", .resident = true}};
	AUTO_FREE char *dir = getcwd(NULL, 0);
	bool in_turns = argc > 4 && !strcmp(argv[1], "turns");
	int runs = argc > 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	if (runs < 1 || runs > RUNS_MAX || (!in_turns && strcmp(argv[1], "rate") != 0))
		fail("turns N GAP_US PEER... | rate N PEER...");
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	ways[1].argv = argv + (in_turns ? 4 : 3);
	for (size_t n = 0; n < ARRAY_LEN(ways); n++)
		prepare(&ways[n], dir);
	if (in_turns)
		turns(ways, ARRAY_LEN(ways), runs, (int)strtol(argv[3], NULL, 10));
	else
		rates(ways, ARRAY_LEN(ways), runs);
	for (size_t n = 0; n < ARRAY_LEN(ways); n++)
		if (ways[n].resident)
			launcher_stop(&ways[n].launcher);
	return 0;
}
