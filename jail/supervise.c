#include "jail/supervise.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "jail/hardened.h"
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { EXIT_TIMEOUT = 124, EXIT_SETUP = 125, EXIT_CANNOT = 126, EXIT_ABSENT = 127 };

static int life_fd = -1;

void supervise_within(int fd)
{
	life_fd = fd;
}

enum { WAIT_LATE, WAIT_ENDED, WAIT_ORPHANED };

static int wait_until(struct pollfd ended, int64_t deadline_ms)
{
	struct pollfd both[] = {ended, {.fd = life_fd}};
	for (;;) {
		int64_t left = deadline_ms - clock_monotonic_ms();
		int got = left <= 0 ? 0 : poll(both, 2, left > INT_MAX ? INT_MAX : (int)left);
		if (got > 0)
			return both[0].revents ? WAIT_ENDED : WAIT_ORPHANED;
		if (left <= 0 || (got < 0 && errno != EINTR))
			return got;
	}
}

int supervise_collect(struct jail *j, struct rusage *used)
{
	int status = 0;
	while (j->child > 0 && wait4(j->child, &status, 0, used) < 0)
		if (errno != EINTR)
			return -1;
	j->child = -1;
	own_close(&j->child_pidfd);
	return status;
}

/* A strict jail's end is seen before its PID 1 is collected: taking the namespaces down can take
 * longer than the command did. */
int supervise_wait(struct jail *j, struct outcome *out, struct err *e)
{
	bool strict = j->policy.profile == PROFILE_STRICT;
	int64_t begin = clock_monotonic_ms();
	struct pollfd end = {
		.fd = strict ? j->alive_fd : j->child_pidfd, .events = strict ? 0 : POLLIN};
	int why = wait_until(end, begin + j->policy.timeout_secs * 1000);
	bool ended = why == WAIT_ENDED;
	if (why < 0)
		return err_errno(e, "cannot wait for the jail");
	out->timed_out = why == WAIT_LATE;
	if (!ended && syscall(SYS_pidfd_send_signal, j->child_pidfd, SIGKILL, NULL, 0))
		return err_errno(e, "cannot kill the jail");
	out->used = j->report->used;
	if (!strict || !ended || !j->report->ended) {
		int status = supervise_collect(j, &out->used);
		j->report->wait_status = strict ? j->report->wait_status : status;
	}
	if (!strict) {
		j->report->ended = !j->report->stage;
		if (hardened_sweep(&out->used, e))
			return -1;
	}
	out->wall_ms = clock_monotonic_ms() - begin;
	return why == WAIT_ORPHANED ? err_set(e, "the resident launcher has ended") : 0;
}

int supervise_exit(const struct jail *j, const struct outcome *out)
{
	const struct report *r = j->report;
	if (r->stage || (!r->set_up && !out->timed_out))
		return EXIT_SETUP;
	if (out->timed_out)
		return EXIT_TIMEOUT;
	if (r->exec_errno)
		return r->exec_errno == ENOENT || r->exec_errno == ENOTDIR ? EXIT_ABSENT
									   : EXIT_CANNOT;
	if (!r->ended) /* PID 1 itself was killed */
		return 128 + SIGKILL;
	return WIFEXITED(r->wait_status) ? WEXITSTATUS(r->wait_status)
					 : 128 + WTERMSIG(r->wait_status);
}

static json_t *appeared(const struct layout *l)
{
	json_t *list = json_array();
	struct stat st;
	for (size_t i = 0; i < l->missing_count; i++)
		if (!lstat(l->missing[i], &st))
			json_array_append_new(list, json_string(l->missing[i]));
	return list;
}

/* What kept the command from running to its own end; `stage` is NULL when only execve failed, which
 * is the command's fault, as in a shell. */
struct cause {
	const char *stage;
	int number;
	char text[1100]; /* empty: nothing did */
};

static void find_cause(const struct jail *j, const struct outcome *out, struct cause *c)
{
	const struct report *r = j->report;
	*c = (struct cause){.stage = r->stage, .number = r->why.number};
	if (r->stage) {
		snprintf(c->text, sizeof(c->text), "%s", r->why.text);
	} else if (r->exec_errno && !out->timed_out) {
		c->number = r->exec_errno;
		snprintf(c->text, sizeof(c->text), "cannot run %s: %s", j->policy.argv[0],
			strerror(r->exec_errno));
	} else if (!r->set_up && !out->timed_out) {
		c->stage = "launch";
		snprintf(c->text, sizeof(c->text), "the jail was killed before it was set up");
	}
}

static json_t *describe(const struct jail *j, const struct outcome *out, const struct cause *c)
{
	const struct report *r = j->report;
	const struct timeval *user = &out->used.ru_utime, *kernel = &out->used.ru_stime;
	bool killed = r->ended && WIFSIGNALED(r->wait_status) && !c->stage;
	json_int_t cpu_ms = (json_int_t)(user->tv_sec + kernel->tv_sec) * 1000 +
			    (user->tv_usec + kernel->tv_usec) / 1000;
	json_t *line = json_pack("{s:o, s:o, s:b, s:I, s:I, s:I, s:o}", "exit",
		killed || out->timed_out ? json_null() : json_integer(supervise_exit(j, out)),
		"signal",
		killed && !out->timed_out ? json_integer(WTERMSIG(r->wait_status)) : json_null(),
		"timed_out", out->timed_out, "wall_ms", (json_int_t)out->wall_ms, "max_rss_kib",
		(json_int_t)out->used.ru_maxrss, "cpu_ms", cpu_ms, "layers",
		report_layers(&r->layers));
	json_t *created = appeared(&j->layout);
	if (line && json_array_size(created))
		json_object_set(line, "appeared", created);
	json_decref(created);
	if (line && c->stage)
		json_object_set_new(line, "stage", json_string(c->stage));
	if (line && c->text[0]) {
		json_object_set_new(line, "errno", json_integer(c->number));
		json_object_set_new(line, "error", json_string(c->text));
	}
	return line;
}

int supervise_tell(const struct jail *j, const struct outcome *out, int status_fd)
{
	struct cause cause;
	find_cause(j, out, &cause);
	if (cause.text[0])
		fprintf(stderr, "agent6-jail: %s%s%s\n", cause.stage ? cause.stage : "",
			cause.stage ? ": " : "", cause.text);
	if (status_fd < 0)
		return 0;
	json_auto_t *line = describe(j, out, &cause);
	AUTO_BUF b;
	buf_init(&b, 64 * 1024);
	if (!line || json_write(&b, line) || buf_addc(&b, '\n'))
		return -1;
	return io_write(status_fd, b.data, b.len);
}
