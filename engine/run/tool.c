#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "run/egress.h"
#include "run/grants.h"
#include "run/live.h"
#include "run/output.h"
#include "run/pump.h"
#include "run/states.h"
#include "run/trail.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum {
	STREAM_BYTES_MAX = 1024 * 1024,
	STDERR_TAIL_BYTES = 8 * 1024,
	STATUS_BYTES_MAX = 64 * 1024,
	GRACE_MS = 10 * 1000, /* the jail enforces timeout_secs; this is for a jail that hangs */
};

struct run {
	struct egress egress; /* broker.pid -1: the step has no list of hosts */
	struct output out, err, status;
	int in_fd, policy_fd;
	int to_child[3]; /* write ends: stdout, stderr, status */
};

static int make_pipe(int *read_end, int *write_end, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	*read_end = ends[0];
	*write_end = ends[1];
	return 0;
}

static int open_stdin(const struct step *s, struct err *e)
{
	if (s->stdin_text)
		return live_memory_file("stdin", s->stdin_text, s->stdin_len, e);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, "cannot open /dev/null") : fd;
}

static int open_ends(
	struct live *w, struct run *r, const struct step *s, struct pump *p, struct err *e)
{
	r->policy_fd = grants_policy_file(w->config, s, e);
	r->in_fd = r->policy_fd < 0 ? -1 : open_stdin(s, e);
	if (r->in_fd < 0)
		return -1;
	struct output *to[] = {&r->out, &r->err, &r->status};
	for (int i = 0; i < 3; i++) {
		if (make_pipe(&p->streams[i].fd, &r->to_child[i], e))
			return -1;
		p->streams[i].take = output_take;
		p->streams[i].ctx = to[i];
		p->stream_count = i + 1;
	}
	return 0;
}

/* The policy says whether there is a list; what it is the state says. */
static int start_egress(
	struct live *w, const struct step *s, struct run *r, struct pump *p, struct err *e)
{
	if (!json_object_get(json_object_get(s->policy, "network"), "proxy_fd"))
		return 0;
	struct egress_ask ask = {.hosts = s->state->tool.hosts,
		.host_count = s->state->tool.host_count,
		.upstream_proxy = w->config->sandbox.upstream_proxy};
	if (egress_start(&r->egress, &ask, e))
		return -1;
	int facts = fcntl(r->egress.facts_fd, F_DUPFD_CLOEXEC, 0);
	if (facts < 0)
		return err_errno(e, "cannot read the broker's facts");
	p->streams[p->stream_count++] = (struct pump_stream){facts, egress_take, &r->egress};
	return 0;
}

static int start_jail(struct live *w, struct run *r, struct child *child, struct err *e)
{
	char *argv[] = {"agent6-jail", "--policy-fd", "3", "--status-fd", "4", NULL};
	char *env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL};
	int fds[] = {r->in_fd, r->to_child[0], r->to_child[1], r->policy_fd, r->to_child[2],
		r->egress.jail_fd};
	_Static_assert(ARRAY_LEN(fds) == EGRESS_PROXY_FD + 1, "the policy names this descriptor");
	struct child_spec spec = {w->jail, argv, env, fds, (int)ARRAY_LEN(fds), true};
	return child_start(&spec, child, e);
}

/* Written beside the data directory and renamed into it: the directory belongs to jailed commands,
 * which may have put a link, a pipe or a directory where our file goes. Only a directory resists,
 * and then this step's outcome says so. */
static enum live_end place_poke(struct live *w, const json_t *poke, json_t **fact, struct err *e)
{
	int dir = w->instance->dir_fd;
	if (!poke) {
		unlinkat(w->data_fd, "poke.json", 0);
		return LIVE_FACT;
	}
	AUTO_FREE char *text = json_text(poke);
	if (!text || io_replace_file(dir, "poke.json", text, strlen(text), 0644, e))
		return LIVE_BROKEN;
	if (renameat(dir, "poke.json", w->data_fd, "poke.json") == 0)
		return LIVE_FACT;
	if (errno != EISDIR)
		return err_errno(e, "data/poke.json cannot be written"), LIVE_BROKEN;
	*fact = json_pack("{s:s}", "not_run", "data/poke.json is a directory");
	return LIVE_FACT;
}

static json_t *number_or_null(const json_t *status, const char *key)
{
	const json_t *value = json_object_get(status, key);
	return json_is_integer(value) ? json_incref((json_t *)(uintptr_t)value) : json_null();
}

static json_t *tool_fact(struct run *r, const json_t *status)
{
	json_t *fact = json_pack("{s:o,s:o,s:b,s:o,s:o,s:o}", "exit",
		number_or_null(status, "exit"), "signal", number_or_null(status, "signal"),
		"timed_out", json_is_true(json_object_get(status, "timed_out")), "wall_ms",
		number_or_null(status, "wall_ms"), "max_rss_kib",
		number_or_null(status, "max_rss_kib"), "stderr_tail",
		output_tail(&r->err, STDERR_TAIL_BYTES));
	output_fact(&r->out, fact);
	return fact;
}

static void keep_output(struct live *w, const struct step *s, const struct run *r)
{
	struct err e = ERR_NONE;
	AUTO_FD int dir = states_open(w->instance, s->dir, w->config->machine.state_log_keep, &e);
	if (dir < 0 || states_write(dir, "stdout", s->attempt, r->out.bytes, r->out.len) ||
		states_write(dir, "stderr", s->attempt, r->err.bytes, r->err.len) ||
		states_write(dir, "status", s->attempt, r->status.bytes, r->status.len))
		live_notice(w, "the output of state %s is not kept: %s", s->state->name,
			*e.text ? e.text : "it cannot be written");
}

/* The status line is the only judge: a command may itself exit 124, 125 or 137. */
static enum live_end judge(struct run *r, const struct pump *p, json_t **fact, struct err *e)
{
	if (p->interrupted)
		return LIVE_INTERRUPTED;
	json_auto_t *status = json_read(
		r->status.len ? r->status.bytes : "", r->status.len, STATUS_BYTES_MAX, NULL);
	const char *stage = json_string_value(json_object_get(status, "stage"));
	const char *why = json_string_value(json_object_get(status, "error"));
	if (p->late) {
		err_set(e, "agent6-jail did not end its command in time");
		return LIVE_NO_SANDBOX;
	}
	if (!status || stage ||
		(!json_is_integer(json_object_get(status, "exit")) &&
			!json_is_integer(json_object_get(status, "signal")) &&
			!json_is_true(json_object_get(status, "timed_out")))) {
		size_t n = strcspn(r->err.len ? r->err.bytes : "", "\n");
		err_set(e, "the jail could not be set up%s%s: %.*s", stage ? ", at " : "",
			stage ? stage : "", why ? (int)strlen(why) : (int)(n > 500 ? 500 : n),
			why          ? why
			: r->err.len ? r->err.bytes
				     : "it ended without a status");
		return LIVE_NO_SANDBOX;
	}
	*fact = tool_fact(r, status);
	return LIVE_FACT;
}

static enum live_end run_jail(
	struct live *w, const struct step *s, struct run *r, json_t **fact, struct err *e)
{
	struct child child = {.pid = -1, .pidfd = -1};
	struct pump pump = {.child = &child,
		.interrupts = &w->interrupts,
		.tick_ms = w->listener->tick_ms,
		.tick = live_tick,
		.ctx = w};
	int failed = open_ends(w, r, s, &pump, e) || start_egress(w, s, r, &pump, e) ||
		     start_jail(w, r, &child, e);
	own_close(&r->egress.jail_fd);
	own_close(&r->in_fd);
	own_close(&r->policy_fd);
	for (int i = 0; i < 3; i++)
		own_close(&r->to_child[i]);
	if (failed) {
		for (int i = 0; i < pump.stream_count; i++)
			own_close(&pump.streams[i].fd);
		return LIVE_BROKEN;
	}
	pump.deadline_ms = clock_monotonic_ms() + s->state->timeout_secs * 1000 + GRACE_MS;
	if (pump_run(&pump, e))
		return LIVE_BROKEN;
	output_close(&r->out);
	output_close(&r->err);
	grants_redact(w->config, s->state, &r->out);
	grants_redact(w->config, s->state, &r->err);
	if (*s->dir)
		keep_output(w, s, r);
	return judge(r, &pump, fact, e);
}

enum live_end live_jail(
	struct live *w, const struct step *s, json_t **fact, json_t **egress, struct err *e)
{
	struct run r = {.in_fd = -1,
		.policy_fd = -1,
		.to_child = {-1, -1, -1},
		.egress = {.broker.pid = -1, .jail_fd = -1, .life_fd = -1, .facts_fd = -1}};
	int64_t cap = w->config->sandbox.limits.output_kb * 1024;
	output_init(&r.out, cap < STREAM_BYTES_MAX ? (size_t)cap : STREAM_BYTES_MAX);
	output_init(&r.err, r.out.cap_bytes);
	output_init(&r.status, STATUS_BYTES_MAX);
	enum live_end end = run_jail(w, s, &r, fact, e);
	egress_done(&r.egress);
	if (end == LIVE_FACT && egress && r.egress.by_endpoint)
		*egress = egress_lines(r.egress.by_endpoint, s->state->name);
	if (end == LIVE_FACT)
		trail_tool(w, s, *fact);
	if (end == LIVE_FACT && egress && *egress)
		trail_egress(w, s, *egress);
	json_decref(r.egress.by_endpoint);
	output_done(&r.out);
	output_done(&r.err);
	output_done(&r.status);
	return end;
}

enum live_end live_tool(
	struct live *w, const struct step *s, json_t **fact, json_t **egress, struct err *e)
{
	enum live_end end = place_poke(w, s->poke, fact, e);
	return end != LIVE_FACT || *fact ? end : live_jail(w, s, fact, egress, e);
}
