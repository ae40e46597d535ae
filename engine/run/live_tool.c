#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "confine/grants.h"
#include "instance/states.h"
#include "launch/ending.h"
#include "launch/orphans.h"
#include "launch/planted.h"
#include "machine/kind.h"
#include "run/egress.h"
#include "run/live.h"
#include "run/output_json.h"
#include "run/pump.h"
#include "run/run_audit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
	STREAM_BYTES_MAX = 1024 * 1024,
	STDERR_TAIL_BYTES = 8 * 1024,
	GRACE_MS = 10 * 1000, /* the jail keeps timeout_secs; this is for a jail that hangs */
};

struct run {
	struct egress egress; /* broker.pid is -1 if the step has no list of hosts */
	/* For a step with a list of hosts: its listener serves one jail only. */
	struct launcher own;
	struct launcher *through; /* `own`, or one of the run's launchers */
	struct output out, err, status;
	struct sha256 printed; /* hash of all of stdout, kept or not */
	struct pump pump;
	int fds[LAUNCHER_FDS]; /* the command's ends of the pipes; owned */
	bool unmade;           /* no jail was made: nothing ran */
};

static int open_stdin(const struct step *step, struct err *e)
{
	if (step->stdin_text)
		return io_memory_file("stdin", step->stdin_text, step->stdin_len, e);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, "cannot open /dev/null") : fd;
}

static void take_stdout(void *ctx, const char *bytes, size_t len)
{
	struct run *r = ctx;
	sha256_add(&r->printed, bytes, len);
	output_take(&r->out, bytes, len);
}

/* Takes the status line, which comes when all of the command's processes have ended. */
static void take_status(void *ctx, const char *bytes, size_t len)
{
	struct run *r = ctx;
	output_take(&r->status, bytes, len);
	r->pump.ended = !len || bytes[len - 1] == '\n';
}

static int open_ends(struct run *run, const struct step *step, struct err *e)
{
	const struct pump_stream takers[] = {
		{-1, take_stdout, run}, {-1, output_take, &run->err}, {-1, take_status, run}};
	run->fds[0] = open_stdin(step, e);
	if (run->fds[0] < 0)
		return -1;
	for (int i = 0; i < (int)ARRAY_LEN(takers); i++) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC))
			return err_errno(e, "cannot make a pipe");
		run->pump.streams[i] = takers[i];
		run->pump.streams[i].fd = ends[0];
		run->fds[1 + i] = ends[1];
		run->pump.stream_count = i + 1;
	}
	return 0;
}

/* Starts a broker if the policy asks for one. The list of hosts is the plan's. */
static int start_egress(struct live *live, const struct step *step, struct run *run, struct err *e)
{
	struct egress_ask ask = {.hosts = step->hosts,
		.host_count = step->host_count,
		.private_hosts = live->config->sandbox.private_hosts.items,
		.private_count = live->config->sandbox.private_hosts.count,
		.upstream_proxy = live->config->sandbox.upstream_proxy};
	if (egress_start(&run->egress, &ask, e))
		return -1;
	int facts = fcntl(run->egress.facts_fd, F_DUPFD_CLOEXEC, 0);
	if (facts < 0)
		return err_errno(e, "cannot read the broker's facts");
	run->pump.streams[run->pump.stream_count++] =
		(struct pump_stream){facts, egress_take, &run->egress};
	return 0;
}

static bool has_list(const struct jail_policy *policy)
{
	return policy->proxy_fd > 0;
}

void live_ahead(struct live *live, const struct jail_policy *policy)
{
	struct err unheard = ERR_NONE; /* the step that needs the launcher gets the error */
	if (!has_list(policy))
		jails_find(&live->jails, policy, &unheard);
}

static int find_launcher(struct live *live, const struct step *step, struct run *run, struct err *e)
{
	if (!has_list(&step->policy)) {
		run->through = jails_find(&live->jails, &step->policy, e);
		return run->through ? 0 : -1;
	}
	if (run->egress.broker.pid < 0 && start_egress(live, step, run, e))
		return -1;
	run->through = &run->own;
	return launcher_start(&step->policy, run->egress.jail_fd, &run->own, e);
}

static void drop_launcher(struct live *live, struct run *run)
{
	if (run->through == &run->own)
		launcher_stop(&run->own);
	else if (run->through)
		jails_drop(&live->jails);
	run->through = NULL;
}

/* Ends the launcher after its last order: if no edge leads directly to another command, a jail
 * built ahead would serve nobody. */
static void close_after(struct live *live, const struct step *step, struct run *run)
{
	bool last = true;
	for (size_t i = 0; i < state_edge_count(step->state); i++) {
		const struct state *to = state_edge(step->state, i);
		last = last && !(to && state_is(to, TRAIT_HURRIES));
	}
	if (run->through == &run->own)
		launcher_close(&run->own);
	else if (last)
		jails_retire(&live->jails);
}

/* Gives the order. A launcher may have died while it was idle, so a second one is tried. If that
 * dies as well, judge reads its last words. */
static int give_order(struct live *live, const struct step *step, struct run *run, struct err *e)
{
	AUTO_FREE char *order = grants_order(live->config, &step->state->tool, &step->order, e);
	int rc = order ? 1 : -1;
	for (int starts = 0; rc == 1 && starts < 2; starts++) {
		drop_launcher(live, run);
		rc = find_launcher(live, step, run, e);
		rc = rc ? rc : launcher_order(run->through, order, strlen(order), run->fds, e);
	}
	if (order)
		explicit_bzero(order, strlen(order));
	if (!rc)
		close_after(live, step, run);
	return rc < 0 ? -1 : 0;
}

/* Writes data/poke.json: first beside the data directory, then renamed into it. Jailed commands own
 * that directory and may have put a link, a pipe or a directory in its place. Only a directory
 * resists the rename, and then the step's outcome says so. */
static enum live_end place_poke(
	struct live *live, const json_t *poke, struct fact *fact, struct err *e)
{
	int dir = live->instance->dir_fd;
	if (!poke) {
		unlinkat(live->data_fd, "poke.json", 0);
		return LIVE_FACT;
	}
	AUTO_FREE char *text = json_text(poke);
	if (!text || io_replace_file(dir, "poke.json", text, strlen(text), 0644, e))
		return LIVE_BROKEN;
	if (renameat(dir, "poke.json", live->data_fd, "poke.json") == 0)
		return LIVE_FACT;
	if (errno != EISDIR)
		return err_errno(e, "data/poke.json cannot be written"), LIVE_BROKEN;
	*fact = (struct fact){.kind = FACT_NOT_RUN, .not_run = "data/poke.json is a directory"};
	return LIVE_FACT;
}

static void tool_fact(struct run *run, const struct state *state, const struct jail_status *status,
	struct fact *out)
{
	*out = (struct fact){.kind = FACT_TOOL,
		.tool = {.exit = status->exit,
			.signal = status->signal,
			.wall_ms = status->wall_ms,
			.max_rss_kib = status->max_rss_kib,
			.timed_out = status->timed_out}};
	struct tool_fact *tool = &out->tool;
	size_t tail = state->failure.present ? FAILURE_OUTPUT_BYTES : STDERR_TAIL_BYTES;
	tool->stderr_tail = json_string_value(fact_hold(out, output_json_tail(&run->err, tail)));
	output_json_fact(&run->out, &run->printed, out);
	if (!state->failure.present) /* no other fact needs it, and no old version knows it */
		tool->output_tail_bytes.known = false;
	tool->too_many_values =
		reduce_wants_json(state) && json_too_many(run->out.bytes, run->out.len);
	/* A command that ended well in spite of a limit needs no reason. */
	char limit[ENDING_LIMIT_BYTES];
	bool well = tool->exit.known && tool_exit_ok(&state->tool, tool->exit.value);
	if (!well && ending_limit(status, limit, sizeof(limit)))
		out->reason = fact_text(out, limit);
}

/* Adds the repositories that a command made: they decide the outcome, whatever its exit status
 * was. */
static void add_planted(struct live *live, const struct step *step,
	const struct jail_status *status, struct fact *fact)
{
	AUTO_BUF reason = BUF_INIT(64 * 1024);
	if (planted_reason(status, PLANTED_IN_DATA, &reason))
		fact->tool.planted =
			fact_text(fact, reason.failed ? "it made a repository" : reason.data);
	json_t *moved = live_planted(live, step, status);
	if (moved)
		fact->moved_aside = fact_hold(fact, moved);
}

static void keep_output(
	struct live *live, const struct step *step, const struct run *run, struct fact *fact)
{
	struct err e = ERR_NONE;
	AUTO_FD int dir =
		states_open(live->instance, step->dir, live->config->machine.state_log_keep, &e);
	bool kept = dir >= 0 &&
		    !states_write(dir, "stdout", step->attempt, run->out.bytes, run->out.len) &&
		    !states_write(dir, "stderr", step->attempt, run->err.bytes, run->err.len) &&
		    !states_write(dir, "status", step->attempt, run->status.bytes, run->status.len);
	if (kept)
		return;
	if (dir >= 0)
		err_errno(&e, "cannot write it");
	live_notice(live, "the output of state %s is not kept: %s", step->state->name, e.text);
	char cut[700];
	snprintf(cut, sizeof(cut), "output: %.600s", e.text);
	if (fact->kind == FACT_TOOL)
		fact->logs_cut = fact_text(fact, cut);
}

/* Says of a command that was started, or may have been, that its end is unknown. */
static void add_lost(struct live *live, struct run *run, const char *why, struct fact *fact)
{
	drop_launcher(live, run);
	bool seen = orphans_end() >= 0;
	char reason[REDUCE_REASON_BYTES];
	snprintf(reason, sizeof(reason), "launcher lost: %.300s; %s", why,
		seen ? "nothing that it ran is left"
		     : "its processes cannot be listed here, and may go on");
	fact->tool.lost = fact_text(fact, reason);
}

/* Judges by the status line alone: a command may itself exit with 124, 125 or 137. */
static enum live_end judge(struct live *live, const struct step *step, struct run *run,
	struct fact *fact, struct err *e)
{
	bool late = run->pump.late;
	if (run->pump.interrupted)
		return LIVE_INTERRUPTED;
	AUTO_JAIL_STATUS status = {.given = false};
	if (!late)
		status = launcher_status(run->through, run->status.bytes, run->status.len);
	struct err why = ERR_NONE;
	enum ending ending = ending_of(&status, &why);
	bool lost = ending == ENDING_LOST;
	if (lost && !late && interrupts_stop(run->pump.interrupts))
		return LIVE_INTERRUPTED;
	if (!lost && ending != ENDING_RAN) {
		run->unmade = true;
		err_set(e, "the jail could not be set up, %s", why.text);
		return ending == ENDING_UNMADE ? LIVE_NO_JAIL : LIVE_NO_SANDBOX;
	}
	AUTO_JAIL_STATUS searched = lost ? planted_of_lost(&status) : jail_status_copy(&status);
	tool_fact(run, step->state, &status, fact);
	if (lost)
		add_lost(live, run, late ? "it did not end its command in time" : why.text, fact);
	add_planted(live, step, &searched, fact);
	return LIVE_FACT;
}

static enum live_end run_jail(struct live *live, const struct step *step, struct run *run,
	struct fact *fact, struct err *e)
{
	struct pump *p = &run->pump;
	*p = (struct pump){.interrupts = &live->interrupts,
		.tick_ms = live->listener->tick_ms,
		.tick = live_tick,
		.ctx = live};
	int failed = open_ends(run, step, e) || give_order(live, step, run, e);
	own_close(&run->egress.jail_fd);
	for (int i = 0; i < LAUNCHER_FDS; i++)
		own_close(&run->fds[i]);
	if (failed) {
		for (int i = 0; i < p->stream_count; i++)
			own_close(&p->streams[i].fd);
		return LIVE_BROKEN;
	}
	p->child = &run->through->child;
	p->deadline_ms = clock_monotonic_ms() + step->timeout_secs * 1000 + GRACE_MS;
	if (pump_carry(p, e))
		return LIVE_BROKEN;
	output_close(&run->out);
	output_close(&run->err);
	grants_redact(live->config, step->state, &run->out);
	grants_redact(live->config, step->state, &run->err);
	enum live_end end = judge(live, step, run, fact, e);
	if (*step->dir && !run->unmade)
		keep_output(live, step, run, fact);
	return end;
}

enum live_end live_jail(struct live *live, const struct step *step, struct fact *fact,
	json_t **egress, struct err *e)
{
	struct run r = {.fds = {-1, -1, -1, -1}, .own = LAUNCHER_NONE, .egress = EGRESS_NONE};
	int64_t cap = live->config->sandbox.limits.output_kb * 1024;
	output_init(&r.out, cap < STREAM_BYTES_MAX ? (size_t)cap : STREAM_BYTES_MAX);
	output_init(&r.err, r.out.cap_bytes);
	sha256_init(&r.printed);
	output_init(&r.status, LAUNCHER_STATUS_BYTES_MAX);
	enum live_end end = run_jail(live, step, &r, fact, e);
	if (end != LIVE_FACT || r.through == &r.own)
		drop_launcher(live, &r);
	egress_done(&r.egress);
	if (end == LIVE_FACT)
		run_audit_tool(live, step, fact);
	if (end == LIVE_FACT && egress && r.egress.by_endpoint) {
		*egress = json_incref(r.egress.by_endpoint);
		run_audit_egress(live, step, *egress);
	}
	json_decref(r.egress.by_endpoint);
	output_done(&r.out);
	output_done(&r.err);
	output_done(&r.status);
	return end;
}

enum live_end live_tool(struct live *live, const struct step *step, struct fact *fact,
	json_t **egress, struct err *e)
{
	if (live_check_left(live, e))
		return LIVE_NO_SANDBOX;
	enum live_end end = place_poke(live, step->poke, fact, e);
	if (end != LIVE_FACT || fact->kind != FACT_NONE)
		return end;
	/* The profile works on this host, so the failure of one jail may be temporary. */
	int tries = 1;
	while ((end = live_jail(live, step, fact, egress, e)) == LIVE_NO_JAIL &&
		ending_again(tries++))
		*e = ERR_NONE;
	return end;
}
