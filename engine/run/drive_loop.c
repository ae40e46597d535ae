#include "run/drive_private.h"
#include "run/egress.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include "instance/budget.h"
#include "instance/pokes.h"
#include "instance/stop.h"
#include "machine/fixed.h"
#include "machine/kind.h"
#include "machine/template.h"
#include "run/hook.h"
#include "run/recorded.h"
#include "run/recording.h"
#include "run/sleep.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* How a kind of state is driven. */
struct drive_kind {
	/* Takes the state one piece further and journals that; false: the run is over. Called again
	 * until the position has moved on, so that a state of many pieces is a small machine of
	 * its own whose place is the position's. */
	bool (*take)(struct drive *drive);
	/* Carries a planned piece out; NULL: nothing is ever planned for the kind. */
	enum live_end (*execute)(struct live *live, const struct step *step, struct fact *fact,
		json_t **egress, struct err *e);
	/* Makes the fact that of a state whose changes cannot be kept. */
	void (*not_kept)(struct fact *fact, struct err *why);
};
static const struct drive_kind *const drive_kinds[KIND_COUNT];

static void tell_activity(struct drive *drive)
{
	struct activity *now = &drive->live.now;
	*now = (struct activity){.state = drive->at.state->name,
		.kind = state_kind_name(drive->at.state->kind),
		.waits = state_wait(drive->at.state) != NULL,
		.seq = drive->at.seq + 1,
		.attempt = drive->at.attempt,
		.started_monotonic_ms = clock_monotonic_ms(),
		.began_unix_us = drive->at.armed ? drive->at.updated_us : clock_realtime_us(),
		.wake_unix_us = drive->at.wake_us};
	live_tick(&drive->live);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* `returns`: the machine's result, borrowed; NULL: it has none. */
static bool finish(
	struct drive *drive, enum end_cause cause, bool ok, const char *reason, json_t *returns)
{
	struct err e = ERR_NONE;
	if (!drive_tell_autorun(drive))
		return false;
	AUTO_FD int lock = pokes_lock(drive->instance, &e);
	if (lock < 0) /* a poke may now be accepted that no run will read */
		live_notice(&drive->live, "%s", e.text);
	char digest[POSITION_DIGEST_BYTES];
	position_blackboard_digest(&drive->at, digest);
	char ts[CLOCK_TEXT_BYTES];
	struct line line = drive_line(drive, LINE_END, ts);
	line.end = (struct line_end){.status = ok ? OUTCOME_OK : OUTCOME_FAILED,
		.reason = reason,
		.cause = cause,
		.transitions = drive->at.totals.transitions,
		.totals = {true, drive->at.totals},
		.blackboard = digest,
		.returns = returns};
	if (drive_commit(drive, &line)) {
		drive_show_wait(drive);
		hook_run(&drive->live, &line);
	}
	return false;
}

static bool halt(struct drive *drive, const struct err *why)
{
	char reason[POSITION_REASON_BYTES];
	utf8_copy(reason, sizeof(reason), why->text);
	return finish(drive, END_HALT, false, reason, NULL);
}

static bool finish_terminal(struct drive *drive)
{
	AUTO_BUF reason = BUF_INIT(POSITION_REASON_RENDERED);
	struct err e = ERR_NONE;
	if (template_render(
		    drive->at.state->terminal.reason, drive->at.blackboard, NULL, &reason, &e)) {
		err_wrap(&e, "state %s, reason", drive->at.state->name);
		return halt(drive, &e);
	}
	json_auto_t *returns = NULL;
	if (reduce_returns(drive->at.state, drive->at.blackboard, &returns, &e)) {
		err_wrap(&e, "state %s", drive->at.state->name);
		return halt(drive, &e);
	}
	return finish(drive, END_TERMINAL, drive->at.state->terminal.ok, reason.data, returns);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Computes what a fact leads to; the blackboard changes when the line is applied. */
static bool judge(struct drive *drive, const struct fact *fact, struct reduced *out)
{
	struct err e = ERR_NONE;
	json_auto_t *blackboard = json_copy(drive->at.blackboard);
	return !reduce(drive->at.state, fact, drive->at.format, blackboard, out, &e) ||
	       drive_end(drive, RUN_BROKEN, "state %s: %s", drive->at.state->name, e.text);
}

/* Journals a judged fact as a step, or as a retry if the state retries its outcome. */
static bool commit_judged(
	struct drive *drive, struct fact *fact, const struct reduced *reduced, bool ride)
{
	const struct state *s = drive->at.state;
	bool told = fact->kind == FACT_NOT_RUN || (fact->kind == FACT_TOOL && fact->tool.lost);
	if (*reduced->reason && !told)
		fact->reason = fact_text(fact, reduced->reason);
	bool retry = position_retries(&drive->at, reduced);
	char ts[CLOCK_TEXT_BYTES];
	struct line line = drive_line(drive, retry ? LINE_RETRY : LINE_STEP, ts);
	line.label = reduced->label;
	line.fact = *fact;
	if (!retry) {
		line.go_to = reduced->target->name;
		return ride ? drive_queue(drive, &line) : drive_commit(drive, &line);
	}
	uint32_t noise = 0;
	if (getrandom(&noise, sizeof(noise), 0) < 0)
		noise = 0;
	char until[CLOCK_TEXT_BYTES];
	int64_t delay_ms = plan_backoff_ms(s, drive->at.attempt, noise / 4294967296.0);
	clock_text(clock_realtime_us() + delay_ms * 1000, until);
	line.retry = (struct line_retry){delay_ms, until};
	return drive_commit(drive, &line);
}

static bool commit_fact(struct drive *drive, struct fact *fact, bool ride)
{
	struct reduced reduced;
	return judge(drive, fact, &reduced) && commit_judged(drive, fact, &reduced, ride);
}

static bool queue_egress(struct drive *drive, json_t *by_endpoint)
{
	const char *endpoint;
	json_t *sums;
	json_object_foreach (by_endpoint, endpoint, sums) {
		char ts[CLOCK_TEXT_BYTES];
		struct line line = drive_line(drive, LINE_EGRESS, ts);
		line.egress = egress_line(endpoint, sums);
		if (!drive_queue(drive, &line))
			return false;
	}
	return true;
}

static void tell_of_clone(struct drive *drive, const struct workspace_step *step)
{
	if (step->left_out)
		live_notice(&drive->live,
			"state %s left %zu git repositories inside the workspace, or changes where "
			"a submodule belongs; they are in no commit",
			step->state->name, step->left_out);
	if (*step->uncommitted.text)
		live_notice(&drive->live, "state %s: its changes are in no commit yet: %s",
			step->state->name, step->uncommitted.text);
}

/* Makes the fact a failure of the state, because its changes to the clone cannot be recorded and
 * are dropped. Git quotes file names as they are, so `why` may not be UTF-8. */
static void agent_not_kept(struct fact *fact, struct err *why)
{
	char reason[POSITION_REASON_BYTES];
	utf8_copy(reason, sizeof(reason), why->text);
	fact->agent.outcome = OUTCOME_FAILED;
	fact->reason = fact_text(fact, reason);
	fact->agent.payload = NULL;
}

static void tool_not_kept(struct fact *fact, struct err *why)
{
	char reason[POSITION_REASON_BYTES];
	err_wrap(why, "the state's changes to the clone cannot be kept");
	utf8_copy(reason, sizeof(reason), why->text);
	if (fact->kind == FACT_TOOL)
		fact->tool.not_kept = fact_text(fact, reason);
}

/* Records the state's changes to the private clone with its step. If that fails, the state has
 * failed and the fact is judged again; but if the disk or the process limit is the cause, the run
 * stops. */
static bool keep_changes(struct drive *drive, const struct step *step,
	const struct path_list *absent, struct fact *fact, struct reduced *reduced)
{
	struct err e = ERR_NONE;
	struct workspace *w = &drive->workspace;
	if (!w->path)
		return true;
	bool ok = reduced->outcome == OUTCOME_OK;
	struct workspace_step s = {.machine = drive->request->machine->name,
		.instance = drive->instance->id,
		.state = step->state,
		.seq = step->seq,
		.attempt = step->attempt,
		.ok = ok,
		.dropped = state_writing(step->state) == WRITES_CODE && !ok,
		.absent = absent};
	int failed = workspace_settle(w, drive->instance->dir_fd, &s, &e);
	if (failed && !s.dropped && !workspace_host_failed(&e)) {
		drive_kinds[step->state->kind]->not_kept(fact, &e);
		if (!judge(drive, fact, reduced))
			return false;
		s.dropped = true;
		e = ERR_NONE;
		failed = workspace_settle(w, drive->instance->dir_fd, &s, &e);
	}
	tell_of_clone(drive, &s);
	return !failed || drive_end(drive, RUN_BROKEN, "state %s: the private clone: %s",
				  step->state->name, e.text);
}

static bool commit_work(struct drive *drive, const struct step *step,
	const struct path_list *absent, struct fact *fact)
{
	struct reduced reduced;
	struct err e = ERR_NONE;
	if (!judge(drive, fact, &reduced) || !keep_changes(drive, step, absent, fact, &reduced) ||
		!commit_judged(drive, fact, &reduced, false))
		return false;
	return !workspace_land(&drive->workspace, drive->at.seq, drive->at.attempt, &e) ||
	       drive_end(drive, RUN_BROKEN,
		       "state %s is committed, and its changes are not on the branch yet: %s; run "
		       "it again when this is repaired",
		       step->state->name, e.text);
}

/* Returns the paths that commands must not touch and that do not exist, so that no mount can
 * protect them. */
static struct path_list absent_paths(const struct drive *drive)
{
	if (state_writing(drive->at.state) != WRITES_CODE)
		return (struct path_list){0};
	AUTO_PATH_LIST paths = confine_protected(&drive->env.confine, NULL);
	AUTO_PATH_LIST hidden = confine_hidden(&drive->env.confine);
	path_list_add_all(&paths, &hidden);
	return workspace_absent(&drive->workspace, &paths);
}

static bool is_out_of_time(const struct drive *drive)
{
	const int64_t deadline_us = budget_deadline_us(&drive->at);
	return deadline_us && clock_realtime_us() >= deadline_us;
}

/* Reports whether the state was killed because the time of the run was used up: it is not
 * committed. */
static bool was_cut_short(const struct drive *drive, const struct fact *fact)
{
	bool killed = fact->kind == FACT_TOOL    ? fact->tool.timed_out || fact->tool.lost
		      : fact->kind == FACT_AGENT ? fact->agent.outcome == OUTCOME_TIMEOUT
						 : false;
	return killed && is_out_of_time(drive);
}

/* Ends the run in the middle of a state, once the spending of that is booked. */
static bool finish_out_of_time(struct drive *drive)
{
	char reason[POSITION_REASON_BYTES];
	budget_out_of_time(&drive->at, INT64_MAX, "in", reason, sizeof(reason));
	return drive_book_unfinished(drive) && finish(drive, END_BUDGET, false, reason, NULL);
}

static bool execute(struct drive *drive, const struct step *step)
{
	AUTO_FACT fact = step->fact;
	AUTO_PATH_LIST absent = absent_paths(drive);
	json_auto_t *egress = NULL;
	struct err e = ERR_NONE;
	enum live_end end = LIVE_FACT;
	json_incref(fact.held);
	if (fact.kind == FACT_NONE)
		end = drive_kinds[step->state->kind]->execute(
			&drive->live, step, &fact, &egress, &e);
	switch (end) {
	case LIVE_FACT:
		if (!queue_egress(drive, egress))
			return false;
		return was_cut_short(drive, &fact) ? finish_out_of_time(drive)
						   : commit_work(drive, step, &absent, &fact);
	case LIVE_INTERRUPTED:
		return drive_end(drive,
			drive->live.interrupts.first == SIGINT ? RUN_INTERRUPTED : RUN_TERMINATED,
			"state %s was killed; it is not committed and runs again on resume",
			drive->at.state->name);
	case LIVE_NO_JAIL:
	case LIVE_NO_SANDBOX:
		return drive_end(
			drive, RUN_NO_SANDBOX, "state %s: %s", drive->at.state->name, e.text);
	case LIVE_REFUSED: return drive_end(drive, RUN_REFUSED, "%s", e.text);
	case LIVE_BROKEN: break;
	}
	return drive_end(drive, RUN_BROKEN, "state %s: %s", drive->at.state->name, e.text);
}

/* Returns `wake_us` (0: never), or the end of the run's time if that comes first. */
static int64_t until(const struct drive *drive, int64_t wake_us)
{
	const int64_t deadline_us = budget_deadline_us(&drive->at);
	return deadline_us && (!wake_us || deadline_us < wake_us) ? deadline_us : wake_us;
}

/* Takes a recorded fact in place of an execution. Returns false if there should be one, and none
 * suits: the run is over. */
static bool take_recorded(struct drive *drive, struct step *step)
{
	const struct recorded *recorded = drive->request->recorded;
	struct err why = ERR_NONE;
	if (!recorded || step->fact.kind != FACT_NONE ||
		!recorded->has(recorded->ctx, step->state) ||
		!recorded->take(recorded->ctx, step, &step->fact, &why))
		return true;
	return drive_end(drive, RUN_BROKEN, "state %s: %s", step->state->name, why.text);
}

static bool take_work(struct drive *drive)
{
	struct step step;
	struct err e = ERR_NONE;
	struct sleep pause = {.instance = drive->instance,
		.interrupts = &drive->live.interrupts,
		.until_us = until(drive, drive->at.retry_at_us)};
	if (drive->at.retry_at_us) {
		jails_clear(&drive->live.jails);
		/* One more, since 0 would mean no limit. */
		pause.most_ms = plan_backoff_ms(drive->at.state, drive->at.attempt - 1, 0) + 1;
		if (sleep_wait(&pause, &e))
			return drive_end(drive, RUN_BROKEN, "%s", e.text);
	}
	if (pause.woke == WOKE_STOP || is_out_of_time(drive))
		return true;
	if (plan_step(&drive->env, &drive->at, &step, &e))
		return halt(drive, &e);
	plan_shorten(&step, &drive->at, clock_realtime_us());
	tell_activity(drive);
	drive_note_autorun(drive);
	bool on = take_recorded(drive, &step) && execute(drive, &step);
	step_done(&step);
	return on;
}

static bool take_branch(struct drive *drive)
{
	struct err e = ERR_NONE;
	struct fact fact;
	return reduce_branch(drive->at.state, drive->at.blackboard, &fact, &e)
		       ? halt(drive, &e)
		       : commit_fact(drive, &fact, true);
}

/* --- waits ------------------------------------------------------------------------------------ */

void drive_show_wait(struct drive *drive)
{
	char wake[CLOCK_TEXT_BYTES];
	struct err e = ERR_NONE;
	if (!drive->at.armed || drive->at.ended) {
		unlinkat(drive->instance->dir_fd, "wait.json", 0);
		return;
	}
	clock_text(drive->at.wake_us, wake);
	json_auto_t *shown = json_pack("{s:s,s:I,s:o}", "state", drive->at.state->name, "seq",
		(json_int_t)drive->at.seq + 1, "wake",
		drive->at.state->wait.timed ? json_string(wake) : json_null());
	AUTO_FREE char *text = json_text(shown);
	if (!text ||
		io_replace_file(drive->instance->dir_fd, "wait.json", text, strlen(text), 0600, &e))
		live_notice(&drive->live, "%s: %s", drive->instance->path,
			*e.text ? e.text : "wait.json: out of memory");
}

/* Journals that the wait has begun. If it is due already, the line rides with its step: nothing
 * sleeps, so nobody needs to find the wake time on the disk. */
static bool arm_wait(struct drive *drive)
{
	struct err e = ERR_NONE;
	int64_t wake_us = drive->at.wake_us, now_us = clock_realtime_us();
	char wake[CLOCK_TEXT_BYTES];
	if (!drive->at.armed && plan_wake(&drive->at, now_us, &wake_us, &e))
		return halt(drive, &e);
	bool due = !drive->at.armed && drive->at.state->wait.timed && wake_us <= now_us;
	char ts[CLOCK_TEXT_BYTES];
	struct line line = drive_line(drive, LINE_ARMED, ts);
	clock_text(wake_us, wake);
	/* `machine list` reads only the last line, so that line carries the totals, as an end
	 * does. */
	line.armed = (struct line_armed){.wake = drive->at.state->wait.timed ? wake : NULL,
		.totals = {true, drive->at.totals}};
	if (due)
		return drive_queue(drive, &line);
	if (!drive_commit(drive, &line))
		return false;
	drive_show_wait(drive);
	return true;
}

static bool commit_woken(struct drive *drive, struct sleep *sleep)
{
	char wake[CLOCK_TEXT_BYTES];
	struct err e = ERR_NONE;
	bool poked = sleep->woke == WOKE_POKE;
	clock_text(drive->at.wake_us, wake);
	AUTO_FACT fact = {.kind = FACT_WAIT,
		.wait = {.wake = drive->at.state->wait.timed ? wake : NULL,
			.woke_by = WOKEN_BY_TIMER}};
	if (poked) {
		fact.wait.woke_by = WOKEN_BY_POKE;
		fact.wait.payload = fact_hold(&fact, sleep->payload);
		fact.wait.poke = sleep->poke;
	}
	/* A kill between the two records the poke twice, and a rehearsal then uses it for the
	 * state's next wait as well. A missing poke would be worse: the rehearsal would never go
	 * on. */
	if (poked)
		recording_poke(&drive->live, drive->at.state->name, sleep->payload);
	if (!commit_fact(drive, &fact, false))
		return false;
	drive_show_wait(drive);
	if (poked && pokes_remove(drive->instance, sleep->poke, &e))
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	return true;
}

/* Journals a poke that has not the form that the wait takes, and sets it aside: the wait goes on. A
 * kill in between leaves the file, which the next start sets aside. */
static bool refuse_poke(struct drive *drive, struct sleep *sleep, const struct err *why)
{
	char ts[CLOCK_TEXT_BYTES];
	struct err e = ERR_NONE;
	struct line line = drive_line(drive, LINE_REFUSED, ts);
	json_decref(TAKE_PTR(sleep->payload));
	line.refused = (struct line_refused){sleep->poke, why->text, {true, drive->at.totals}};
	return drive_commit(drive, &line) && (!pokes_set_aside(drive->instance, sleep->poke, &e) ||
						     drive_end(drive, RUN_BROKEN, "%s", e.text));
}

static bool wake_by_poke(struct drive *drive, struct sleep *sleep)
{
	struct err why = ERR_NONE;
	return reduce_poke(drive->at.state, sleep->payload, drive->at.blackboard, &why)
		       ? refuse_poke(drive, sleep, &why)
		       : commit_woken(drive, sleep);
}

static bool take_wait(struct drive *drive)
{
	struct err e = ERR_NONE;
	/* The last line tells a waiting run from a parked one, so a run that was parked journals
	 * its wait anew. */
	bool arms = !drive->at.armed || stop_is_last(drive->journal.fd);
	if (arms && drive->request->exit_on_wait && !drive_tell_autorun(drive))
		return false;
	if (arms && !arm_wait(drive))
		return false;
	tell_activity(drive);
	struct sleep s = {.instance = drive->instance,
		.interrupts = &drive->live.interrupts,
		.until_us = until(drive, drive->at.wake_us),
		.pokes = true};
	if (drive->request->exit_on_wait ? sleep_look(&s, &e) : sleep_wait(&s, &e))
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	if (*s.bad_poke)
		live_notice(&drive->live, "poke %s cannot be read and was set aside", s.bad_poke);
	if (s.woke == WOKE_NOT)
		return drive_end(drive, RUN_WAITING, "state %s waits", drive->at.state->name);
	if (s.woke == WOKE_POKE)
		return wake_by_poke(drive, &s);
	bool early = s.woke == WOKE_TIMER && is_out_of_time(drive);
	return s.woke == WOKE_STOP || early || commit_woken(drive, &s);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Reports whether the run cannot be parked here. A branch takes no time, so a stop takes effect at
 * the next state that works or waits. A cycle of branches only does not put it off for ever. */
static bool stops_behind(struct drive *drive)
{
	bool branch = drive->at.state->clauses != NULL;
	drive->branches = branch ? drive->branches + 1 : 0;
	return branch && drive->branches <= drive->request->machine->state_count;
}

/* Returns false if somebody has asked for a stop, and journals it. */
static bool may_go_on(struct drive *drive)
{
	struct err e = ERR_NONE;
	if (stops_behind(drive))
		return true;
	interrupts_read(&drive->live.interrupts);
	int signal = drive->live.interrupts.first;
	if (!signal && !stop_asked(drive->instance))
		return true;
	if (!drive_tell_autorun(drive))
		return false;
	char ts[CLOCK_TEXT_BYTES];
	struct line line = drive_line(drive, LINE_STOP, ts);
	line.stop = !signal            ? STOPPED_BY_REQUEST
		    : signal == SIGINT ? STOPPED_BY_SIGINT
				       : STOPPED_BY_SIGTERM;
	if (!drive_commit(drive, &line))
		return false;
	if (stop_clear(drive->instance, &e))
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	if (signal)
		return drive_end(drive, signal == SIGINT ? RUN_INTERRUPTED : RUN_TERMINATED,
			"parked by a signal before state %s", drive->at.state->name);
	return drive_end(drive, RUN_STOPPED, "parked before state %s", drive->at.state->name);
}

static bool announce(struct drive *drive)
{
	const struct state *s = drive->at.state;
	struct err e = ERR_NONE;
	AUTO_BUF text = BUF_INIT(NOTIFY_BYTES_MAX);
	if (!s->notify || drive->at.notified)
		return true;
	if (template_render(s->notify, drive->at.blackboard, NULL, &text, &e)) {
		err_wrap(&e, "state %s, notify", s->name);
		return halt(drive, &e);
	}
	char ts[CLOCK_TEXT_BYTES];
	struct line line = drive_line(drive, LINE_NOTIFY, ts);
	line.notify = (struct line_notify){s->notify_level, text.len ? text.data : ""};
	if (!drive_commit(drive, &line))
		return false;
	hook_run(&drive->live, &line);
	/* A stop that came during the hook takes effect before the state's work. An end has no
	 * work. */
	return state_is(s, TRAIT_ENDS) || may_go_on(drive);
}

static const struct drive_kind drive_agent = {take_work, live_agent, agent_not_kept};
static const struct drive_kind drive_tool = {take_work, live_tool, tool_not_kept};
static const struct drive_kind drive_wait = {take_wait, NULL, NULL};
static const struct drive_kind drive_branch = {take_branch, NULL, NULL};
static const struct drive_kind drive_terminal = {finish_terminal, NULL, NULL};

#define X(NAME, name) [KIND_##NAME] = &drive_##name,
static const struct drive_kind *const drive_kinds[KIND_COUNT] = {STATE_KINDS(X)};
#undef X

static bool take_step(struct drive *drive)
{
	char reason[POSITION_REASON_BYTES];
	const struct state *state = drive->at.state;
	if (budget_exhausted(&drive->at, drive->request->config, clock_realtime_us(), reason,
		    sizeof(reason)))
		return finish(drive, END_BUDGET, false, reason, NULL);
	if (position_exhausted(&drive->at)) {
		struct fact fact = {.kind = FACT_VISITS,
			.visits = fixed_max_visits(state, drive->at.blackboard)};
		return commit_fact(drive, &fact, true);
	}
	if (!announce(drive))
		return false;
	if (!state_is(state, TRAIT_HURRIES | TRAIT_ENDS))
		jails_clear(&drive->live.jails);
	return drive_kinds[state->kind]->take(drive);
}

void drive_loop(struct drive *drive)
{
	while (may_go_on(drive) && take_step(drive))
		continue;
}
