/*
 * The launcher's side: waits for the jail to end, kills it on time-out, and reports what happened.
 *
 * Attack: a command that never ends, or whose end nobody sees; an outcome that hides that the jail
 * was never there.
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "jail/jail.h"
#include <sched.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { EXIT_TIMEOUT = 124, EXIT_SETUP = 125, EXIT_CANNOT = 126, EXIT_ABSENT = 127 };

enum { WAIT_LATE, WAIT_ENDED, WAIT_ORPHANED, WAIT_ASKED, WAIT_OVER };

/* Waits until the deadline. On hardened it watches the memory meanwhile. */
static int wait_until(struct jail *jail, int64_t deadline_ms)
{
	/* Served, the resident launcher's end is watched; else that of who started this one. */
	bool served = jail->life_fd >= 0;
	/* poll() takes no more entries than the limit of open files, which may have been lowered.
	 */
	struct pollfd ends[] = {{.fd = jail->strict ? jail->alive_fd : jail->child_pidfd,
					.events = jail->strict ? 0 : POLLIN},
		{.fd = served ? jail->life_fd : jail->parent_fd, .events = served ? 0 : POLLIN},
		{.fd = jail->asked_fd, .events = POLLIN}};
	int64_t look_ms = clock_monotonic_ms() + memory_first_ms(jail);
	bool watched = !jail->strict && memory_watched(jail);
	int got;
	while (!(got = io_poll(ends, ARRAY_LEN(ends),
			 watched && look_ms < deadline_ms ? look_ms : deadline_ms)) &&
		watched && clock_monotonic_ms() < deadline_ms) {
		look_ms = clock_monotonic_ms() + memory_look(jail, false);
		if (jail->report->limit)
			return WAIT_OVER;
	}
	if (got <= 0 || ends[0].revents)
		return got <= 0 ? got : WAIT_ENDED;
	if (ends[2].revents)
		lifeline_read(jail);
	return ends[2].revents ? WAIT_ASKED : WAIT_ORPHANED;
}

static int collect(struct jail *jail)
{
	int status = 0;
	if (jail->child > 0 && waitpid(jail->child, &status, 0) < 0) /* no signal is handled here */
		return -1;
	jail->child = -1; /* its number may be another process's from now on */
	return status;
}

/* Ends PID 1 of a strict jail, which waits for the launcher's end, or for this. */
static int end(struct jail *jail)
{
	if (jail->child > 0)
		kill(jail->child, SIGKILL);
	return collect(jail);
}

/* Waits for a strict jail's end before its PID 1 is reaped: taking the namespaces down can take
 * longer than the command did. */
static int wait_for(struct jail *jail, struct err *e)
{
	static const pid_t nobody;
	struct jail_report *r = jail->report;
	int64_t begin = clock_monotonic_ms();
	if (r->stage)
		return end(jail) < 0 ? err_errno(e, "cannot wait for the jail") : 0;
	int why = wait_until(jail, begin + jail->policy.timeout_secs * 1000);
	bool ended = why == WAIT_ENDED;
	if (why < 0)
		return err_errno(e, "cannot wait for the jail");
	r->timed_out = why == WAIT_LATE;
	if (!ended && syscall(SYS_pidfd_send_signal, jail->child_pidfd, SIGKILL, NULL, 0))
		return err_errno(e, "cannot kill the jail");
	if (!jail->strict) {
		r->wait_status = collect(jail);
		r->ended = true;
		if (hardened_sweep(jail, &nobody, e))
			return -1;
	} else if (!ended || !r->ended) {
		collect(jail);
	}
	if (jail->child < 0) /* reaped: PID 1 could not report it */
		getrusage(RUSAGE_CHILDREN, &r->used);
	r->wall_ms = clock_monotonic_ms() - begin;
	if (why == WAIT_ASKED)
		return err_set(e, "signal %d asked the launcher to end", jail->asked);
	return why == WAIT_ORPHANED ? err_set(e, "who started the launcher has ended") : 0;
}

/* Determines the exit status, and sets the reason in the report if it is not the command's own.
 * Without a stage only execve failed, which is the command's fault, as in a shell. */
static int judge(const struct jail *jail)
{
	struct jail_report *r = jail->report;
	if (!r->stage && !r->set_up && !r->timed_out) {
		r->stage = "launch";
		err_set(&r->why, "the jail was killed before it was set up");
	}
	if (r->lost)
		return 128 + SIGKILL;
	if (r->stage)
		return EXIT_SETUP;
	if (r->timed_out)
		return EXIT_TIMEOUT;
	if (!r->exec_errno)
		return !r->ended                   ? 128 + SIGKILL /* PID 1 itself was killed */
		       : WIFEXITED(r->wait_status) ? WEXITSTATUS(r->wait_status)
						   : 128 + WTERMSIG(r->wait_status);
	errno = r->exec_errno;
	err_errno(&r->why, "cannot run %s%s",
		json_string_value(json_array_get(jail->policy.argv, 0)),
		r->uninterpreted ? ", whose interpreter is not there" : "");
	return errno == ENOENT || errno == ENOTDIR ? EXIT_ABSENT : EXIT_CANNOT;
}

/* Returns the limit that stopped the command or a process that it waited for, as far as it can be
 * told: a shell reports how such a process ended. NULL: none did. */
static const char *find_limit(const struct jail *jail, int code)
{
	const struct jail_report *r = jail->report;
	const char *group = cgroup_limit(jail);
	int64_t cpu_secs = r->used.ru_utime.tv_sec + r->used.ru_stime.tv_sec;
	int number = code - 128;
	if (r->stage || r->timed_out)
		return NULL;
	if (r->limit || group)
		return r->limit ? r->limit : group;
	if (number == SIGXCPU ||
		(number == SIGKILL && jail->policy.cpu_secs && cpu_secs >= jail->policy.cpu_secs))
		return "cpu_secs";
	return number == SIGXFSZ ? "file_mb" : r->full ? "processes" : NULL;
}

/* Returns {"NAME": its value}; NULL without one. */
static json_t *describe_limit(const struct policy *policy, const char *name)
{
#define LIMIT_DESCRIBE(field, initial, largest)                                                    \
	if (name && !strcmp(name, #field))                                                         \
		return json_pack("{s:I}", #field, (json_int_t)policy->field);
	POLICY_LIMITS(LIMIT_DESCRIBE)
	return NULL;
}

/* Makes a reason one line of UTF-8, whatever names are in it and wherever one was cut. */
static void flatten(struct err *why)
{
	utf8_copy(why->text, sizeof(why->text), why->text);
	for (char *c = why->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

/* Returns the protected paths that have appeared since; NULL: none. */
static json_t *appeared(const struct layout *layout)
{
	json_t *list = NULL;
	struct stat st;
	for (size_t i = 0; i < layout->missing_count; i++)
		if (!lstat(layout->missing[i], &st) && (list || (list = json_array())))
			json_array_append_new(list, json_string(layout->missing[i]));
	return list;
}

/* Writes one line of JSON. */
static void describe(const struct jail *jail, int status, struct buf *buf)
{
	const struct jail_report *r = jail->report;
	bool killed = r->ended && !r->timed_out && !r->stage && WIFSIGNALED(r->wait_status);
	bool explained = r->why.text[0];
	char code[16] = "null", number[16] = "null";
	struct timeval cpu;
	timeradd(&r->used.ru_utime, &r->used.ru_stime, &cpu);
	if (killed || r->lost)
		snprintf(
			number, sizeof(number), "%d", r->lost ? SIGKILL : WTERMSIG(r->wait_status));
	else if (!r->timed_out)
		snprintf(code, sizeof(code), "%d", status);
	buf_addf(buf,
		"{\"exit\":%s,\"signal\":%s,\"timed_out\":%s,\"wall_ms\":%lld,"
		"\"max_rss_kib\":%ld,\"cpu_ms\":%lld,\"layers\":",
		code, number, r->timed_out ? "true" : "false", (long long)r->wall_ms,
		r->used.ru_maxrss, (long long)cpu.tv_sec * 1000 + cpu.tv_usec / 1000);
	jail_report_layers(&r->layers, buf);
	json_auto_t *rest = json_pack("{s:o*, s:o*, s:O*, s:s*, s:o*, s:s*, s:o*, s:s*}",
		"appeared", appeared(&jail->layout), "limit",
		describe_limit(&jail->policy, find_limit(jail, status)), "planted", jail->planted,
		"left", *jail->left.text ? jail->left.text : NULL, "stuck",
		jail->stuck ? json_true() : NULL, "stage", r->stage, "errno",
		explained ? json_integer(r->why.number) : NULL, "error",
		explained ? r->why.text : NULL);
	AUTO_FREE char *text = rest ? json_text(rest) : NULL;
	buf->failed |= !text;
	buf_adds(buf, json_object_size(rest) ? "," : "");
	buf_adds(buf, text ? text + 1 : "");
	buf_addc(buf, '\n');
}

int supervise(struct jail *jail, int status_fd)
{
	struct err e = ERR_NONE;
	if (jail->child > 0 && wait_for(jail, &e)) {
		jail->report->lost = jail->report->set_up; /* else nothing has run */
		jail_report_fail(jail->report, jail->report->lost ? "wait" : "launch", &e);
		if (jail->child > 0)
			kill(jail->child, SIGKILL); /* nothing limits its time any more */
	}
	if (jail->report->set_up)
		repositories_settle(jail);
	signal(SIGPIPE, SIG_IGN); /* the reader may have gone; the host is cleaned all the same */
	int code = judge(jail);
	flatten(&jail->report->why);
	flatten(&jail->left);
	const struct jail_report *r = jail->report;
	if (r->why.text[0] && !jail->asked) /* whoever asked knows */
		fprintf(stderr, "agent6-jail: %s%s%s\n", r->stage ? r->stage : "",
			r->stage ? ": " : "", r->why.text);
	if (status_fd < 0)
		return code;
	AUTO_BUF line;
	buf_init(&line, MIB);
	describe(jail, code, &line);
	bool told = !line.failed && !io_write(status_fd, line.data, line.len);
	close(status_fd); /* at once: readers wait for the end */
	sched_yield();    /* gives them their turn before tidying up */
	return told ? code : EXIT_SETUP;
}

void supervise_clean(struct jail *jail)
{
	end(jail);
	cgroup_leave(jail);
	placeholder_leave(jail);
	if (jail->temp_dir && rmdir(jail->temp_dir)) /* it is mostly empty */
		tree_remove(AT_FDCWD, jail->temp_dir, NULL);
	free(TAKE_PTR(jail->temp_dir));
}
