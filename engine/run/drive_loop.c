#include "run/drive_inside.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include "instance/budget.h"
#include "instance/pokes.h"
#include "instance/stop.h"
#include "machine/template.h"
#include "run/hook.h"
#include "run/sleep.h"
#include "run/tape.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static void tell(struct drive *d)
{
	struct activity *now = &d->live.now;
	*now = (struct activity){.state = d->at.state->name,
		.kind = state_kind_name(d->at.state->kind),
		.seq = d->at.seq + 1,
		.attempt = d->at.attempt,
		.started_monotonic_ms = clock_monotonic_ms(),
		.began_unix_us = d->at.armed ? d->at.updated_us : clock_realtime_us(),
		.wake_unix_us = d->at.wake_us};
	live_tick(&d->live);
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool finish(struct drive *d, enum end_cause cause, bool ok, const char *reason)
{
	struct err e = ERR_NONE;
	if (!drive_tell_autorun(d))
		return false;
	AUTO_FD int lock = pokes_lock(d->instance, &e);
	if (lock < 0) /* a poke may now be accepted and then find nobody */
		live_notice(&d->live, "%s", e.text);
	char digest[POSITION_DIGEST_BYTES];
	position_blackboard_digest(&d->at, digest);
	json_auto_t *event = drive_event(d, "end");
	json_object_set_new(event, "status", json_string(ok ? "ok" : "failed"));
	json_object_set_new(event, "reason", json_string(reason));
	json_object_set_new(event, "cause", json_string(end_cause_name(cause)));
	json_object_set_new(event, "transitions", json_integer(d->at.totals.transitions));
	json_object_set_new(event, "totals", totals_encode(&d->at.totals));
	json_object_set_new(event, "blackboard", json_string(digest));
	if (drive_commit(d, json_incref(event))) {
		drive_show_wait(d);
		hook_run(&d->live, event);
	}
	return false;
}

static bool halt(struct drive *d, const struct err *why)
{
	char reason[POSITION_REASON_BYTES];
	utf8_copy(reason, sizeof(reason), why->text);
	return finish(d, END_HALT, false, reason);
}

static bool finish_terminal(struct drive *d)
{
	AUTO_BUF reason = BUF_INIT(POSITION_REASON_RENDERED);
	struct err e = ERR_NONE;
	if (template_render(d->at.state->terminal.reason, d->at.blackboard, NULL, &reason, &e)) {
		err_wrap(&e, "state %s, reason", d->at.state->name);
		return halt(d, &e);
	}
	return finish(d, END_TERMINAL, d->at.state->terminal.ok, reason.data);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Journals a fact as a step, or as a retry when its outcome is to be retried. Takes `fact`. */
static bool commit_fact(struct drive *d, json_t *fact, bool ride)
{
	json_auto_t *owned = fact;
	const struct state *s = d->at.state;
	struct reduced v;
	struct err e = ERR_NONE;
	json_auto_t *blackboard = json_copy(d->at.blackboard);
	if (reduce(s, owned, blackboard, &v, &e))
		return drive_end(d, RUN_BROKEN, "state %s: %s", s->name, e.text);
	if (*v.reason && !json_object_get(owned, "not_run") && !json_object_get(owned, "lost"))
		json_object_set_new(owned, "reason", json_string(v.reason));
	bool retry = position_retries(&d->at, &v);
	json_t *event = drive_event(d, retry ? "retry" : "step");
	json_object_set_new(event, "label", json_string(v.label));
	json_object_set_new(event, "attempt", json_integer(d->at.attempt));
	json_object_set(event, "fact", owned);
	if (!retry) {
		json_object_set_new(event, "goto", json_string(v.target->name));
		return ride ? drive_queue(d, event) : drive_commit(d, event);
	}
	uint32_t noise = 0;
	if (getrandom(&noise, sizeof(noise), 0) < 0)
		noise = 0;
	char until[CLOCK_TEXT_BYTES];
	int64_t delay_ms = plan_backoff_ms(s, d->at.attempt, noise / 4294967296.0);
	clock_text(clock_realtime_us() + delay_ms * 1000, until);
	json_object_set_new(event, "delay_ms", json_integer(delay_ms));
	json_object_set_new(event, "until", json_string(until));
	return drive_commit(d, event);
}

static bool queue_egress(struct drive *d, json_t *lines)
{
	size_t i;
	json_t *line;
	json_array_foreach (lines, i, line) {
		json_t *event = drive_event(d, "egress");
		json_object_update(event, line);
		if (!drive_queue(d, event))
			return false;
	}
	return true;
}

static void tell_of_clone(struct drive *d, const struct workspace_step *s)
{
	if (s->left_out)
		live_notice(&d->live,
			"state %s left %zu git repositories inside the workspace, or changes where "
			"a submodule belongs; they are in no commit",
			s->state->name, s->left_out);
	if (*s->uncommitted.text)
		live_notice(&d->live, "state %s: its changes are in no commit yet: %s",
			s->state->name, s->uncommitted.text);
}

/* What cannot be recorded is the state's failure, and dropped. */
static void fail_fact(const struct step *step, struct err *why, json_t *fact)
{
	char reason[POSITION_REASON_BYTES];
	bool tool = step->state->kind == KIND_TOOL;
	if (tool)
		err_wrap(why, "what the state left in the clone cannot be kept");
	utf8_copy(reason, sizeof(reason), why->text); /* git names files as they are named */
	if (tool) {
		json_object_set_new(fact, "not_kept", json_string(reason));
		return;
	}
	json_object_set_new(fact, "outcome", json_string("failed"));
	json_object_set_new(fact, "reason", json_string(reason));
	json_object_set_new(fact, "payload", json_null());
}

/* What the state did to the private clone is recorded with its step. That this cannot be done is
 * the state's failure, but for a disk that takes no more, or a process that is not to be had: that
 * is ours. */
static bool settle(struct drive *d, const struct step *step, const json_t *absent, json_t *fact)
{
	struct reduced v;
	struct err e = ERR_NONE;
	json_auto_t *blackboard = json_copy(d->at.blackboard);
	struct workspace *w = &d->workspace;
	if (!w->path || reduce(step->state, fact, blackboard, &v, &e))
		return true; /* a fact that is none is refused in a moment */
	bool ok = v.outcome == OUTCOME_OK;
	struct workspace_step s = {.machine = d->request->machine->name,
		.instance = d->instance->id,
		.state = step->state,
		.seq = step->seq,
		.attempt = step->attempt,
		.ok = ok,
		.dropped = step->state->kind == KIND_AGENT && !ok,
		.absent = absent};
	int failed = workspace_settle(w, d->instance->dir_fd, &s, &e);
	if (failed && !s.dropped && !workspace_host_failed(&e)) {
		fail_fact(step, &e, fact);
		s.dropped = true;
		e = ERR_NONE;
		failed = workspace_settle(w, d->instance->dir_fd, &s, &e);
	}
	tell_of_clone(d, &s);
	return !failed || drive_end(d, RUN_BROKEN, "state %s: the private clone: %s",
				  step->state->name, e.text);
}

static bool commit_work(
	struct drive *d, const struct step *step, const json_t *absent, json_t *fact)
{
	struct err e = ERR_NONE;
	if (!settle(d, step, absent, fact)) {
		json_decref(fact);
		return false;
	}
	if (!commit_fact(d, fact, false))
		return false;
	return !workspace_land(&d->workspace, d->at.seq, d->at.attempt, &e) ||
	       drive_end(d, RUN_BROKEN,
		       "state %s is committed, and its changes are not on the branch yet: %s; run "
		       "it again when this is repaired",
		       step->state->name, e.text);
}

/* What commands are to be kept from, and is not there to be kept. */
static json_t *absent_paths(const struct drive *d)
{
	if (d->at.state->kind != KIND_AGENT)
		return NULL;
	json_auto_t *paths = confine_protected(&d->env.confine, NULL);
	json_auto_t *hidden = confine_hidden(&d->env.confine);
	json_array_extend(paths, hidden);
	return workspace_absent(&d->workspace, paths);
}

static bool execute(struct drive *d, const struct step *step)
{
	json_t *fact = json_incref(step->fact);
	json_auto_t *absent = absent_paths(d);
	json_auto_t *egress = NULL;
	struct err e = ERR_NONE;
	enum live_end end = LIVE_FACT;
	if (!fact)
		end = d->at.state->kind == KIND_TOOL
			      ? live_tool(&d->live, step, &fact, &egress, &e)
			      : live_agent(&d->live, step, &fact, &egress, &e);
	switch (end) {
	case LIVE_FACT:
		return queue_egress(d, egress) ? commit_work(d, step, absent, fact)
					       : (json_decref(fact), false);
	case LIVE_INTERRUPTED:
		return drive_end(d,
			d->live.interrupts.first == SIGINT ? RUN_INTERRUPTED : RUN_TERMINATED,
			"state %s was killed; it is not committed and runs again on resume",
			d->at.state->name);
	case LIVE_NO_JAIL:
	case LIVE_NO_SANDBOX:
		return drive_end(d, RUN_NO_SANDBOX, "state %s: %s", d->at.state->name, e.text);
	case LIVE_REFUSED: return drive_end(d, RUN_REFUSED, "%s", e.text);
	case LIVE_BROKEN: break;
	}
	return drive_end(d, RUN_BROKEN, "state %s: %s", d->at.state->name, e.text);
}

static bool take_work(struct drive *d)
{
	struct step step;
	struct err e = ERR_NONE;
	struct sleep pause = {.instance = d->instance,
		.interrupts = &d->live.interrupts,
		.until_us = d->at.retry_at_us};
	if (d->at.retry_at_us) {
		jails_clear(&d->live.jails);
		/* 0 would be no bound. */
		pause.most_ms = plan_backoff_ms(d->at.state, d->at.attempt - 1, 0) + 1;
		if (sleep_wait(&pause, &e))
			return drive_end(d, RUN_BROKEN, "%s", e.text);
	}
	if (pause.woke == WOKE_STOP)
		return true;
	if (plan_step(&d->env, &d->at, &step, &e))
		return halt(d, &e);
	tell(d);
	drive_note_autorun(d);
	bool on = execute(d, &step);
	step_done(&step);
	return on;
}

static bool take_branch(struct drive *d)
{
	struct err e = ERR_NONE;
	json_t *fact = reduce_branch(d->at.state, d->at.blackboard, &e);
	return fact ? commit_fact(d, fact, true) : halt(d, &e);
}

/* --- waits ------------------------------------------------------------------------------------ */

void drive_show_wait(struct drive *d)
{
	char wake[CLOCK_TEXT_BYTES];
	struct err e = ERR_NONE;
	if (!d->at.armed || d->at.ended) {
		unlinkat(d->instance->dir_fd, "wait.json", 0);
		return;
	}
	clock_text(d->at.wake_us, wake);
	json_auto_t *shown = json_pack("{s:s,s:I,s:o}", "state", d->at.state->name, "seq",
		(json_int_t)d->at.seq + 1, "wake",
		d->at.state->wait.timed ? json_string(wake) : json_null());
	AUTO_FREE char *text = json_text(shown);
	if (!text ||
		io_replace_file(d->instance->dir_fd, "wait.json", text, strlen(text), 0600, &e))
		live_notice(&d->live, "%s: %s", d->instance->path,
			*e.text ? e.text : "wait.json: out of memory");
}

/* A wait that is due already is journaled with its step: nothing sleeps, so nobody has to find the
 * instant on the disk. */
static bool arm_wait(struct drive *d)
{
	struct err e = ERR_NONE;
	int64_t wake_us = d->at.wake_us, now_us = clock_realtime_us();
	char wake[CLOCK_TEXT_BYTES];
	if (!d->at.armed && plan_wake(&d->at, now_us, &wake_us, &e))
		return halt(d, &e);
	bool due = !d->at.armed && d->at.state->wait.timed && wake_us <= now_us;
	json_t *event = drive_event(d, "wait.armed");
	clock_text(wake_us, wake);
	json_object_set_new(
		event, "wake", d->at.state->wait.timed ? json_string(wake) : json_null());
	/* As in an end: who lists instances reads no further than the last line. */
	json_object_set_new(event, "totals", totals_encode(&d->at.totals));
	if (due)
		return drive_queue(d, event);
	if (!drive_commit(d, event))
		return false;
	drive_show_wait(d);
	return true;
}

static bool commit_woken(struct drive *d, struct sleep *s)
{
	char wake[CLOCK_TEXT_BYTES];
	struct err e = ERR_NONE;
	bool poked = s->woke == WOKE_POKE;
	clock_text(d->at.wake_us, wake);
	json_t *fact = json_pack("{s:o,s:s,s:o}", "wake",
		d->at.state->wait.timed ? json_string(wake) : json_null(), "woke_by",
		poked ? "poke" : "timer", "payload", poked ? s->payload : json_null());
	if (poked)
		json_object_set_new(fact, "poke", json_string(s->poke));
	/* Recorded twice when a kill comes between: a rehearsal then has the same poke for the
	 * state's next wait as well. One that is missing would keep it waiting. */
	if (poked)
		tape_poke(&d->live, d->at.state->name, s->payload);
	if (!commit_fact(d, fact, false))
		return false;
	drive_show_wait(d);
	if (poked && pokes_remove(d->instance, s->poke, &e))
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	return true;
}

static bool take_wait(struct drive *d)
{
	struct err e = ERR_NONE;
	/* By the last line whoever looks tells one that waits from one that is parked. */
	bool arms = !d->at.armed || stop_is_last(d->journal.fd);
	if (arms && d->request->exit_on_wait && !drive_tell_autorun(d))
		return false;
	if (arms && !arm_wait(d))
		return false;
	tell(d);
	struct sleep s = {.instance = d->instance,
		.interrupts = &d->live.interrupts,
		.until_us = d->at.wake_us,
		.pokes = true};
	if (d->request->exit_on_wait ? sleep_look(&s, &e) : sleep_wait(&s, &e))
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	if (*s.bad_poke)
		live_notice(&d->live, "poke %s cannot be read and was set aside", s.bad_poke);
	if (s.woke == WOKE_NOT)
		return drive_end(d, RUN_WAITING, "state %s waits", d->at.state->name);
	return s.woke == WOKE_STOP ? true : commit_woken(d, &s);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* A branch takes no time, so a run is parked where it would have worked or waited next. Branches
 * that only lead to one another are no such way on. */
static bool stops_behind(struct drive *d)
{
	bool branch = d->at.state->kind == KIND_BRANCH;
	d->branches = branch ? d->branches + 1 : 0;
	return branch && d->branches <= d->request->machine->state_count;
}

/* False once somebody asked for a stop, which is then journaled. */
static bool may_go_on(struct drive *d)
{
	struct err e = ERR_NONE;
	if (stops_behind(d))
		return true;
	interrupts_read(&d->live.interrupts);
	int signal = d->live.interrupts.first;
	if (!signal && !stop_asked(d->instance))
		return true;
	if (!drive_tell_autorun(d))
		return false;
	json_t *event = drive_event(d, "stop");
	json_object_set_new(event, "by",
		json_string(!signal            ? "request"
			    : signal == SIGINT ? "SIGINT"
					       : "SIGTERM"));
	if (!drive_commit(d, event))
		return false;
	if (stop_clear(d->instance, &e))
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	if (signal)
		return drive_end(d, signal == SIGINT ? RUN_INTERRUPTED : RUN_TERMINATED,
			"stopped by a signal in state %s", d->at.state->name);
	return drive_end(d, RUN_STOPPED, "stopped in state %s", d->at.state->name);
}

static bool announce(struct drive *d)
{
	static const char *const levels[] = {
		[NOTIFY_INFO] = "info", [NOTIFY_WARN] = "warn", [NOTIFY_ERROR] = "error"};
	const struct state *s = d->at.state;
	struct err e = ERR_NONE;
	AUTO_BUF text = BUF_INIT(NOTIFY_BYTES_MAX);
	if (!s->notify || d->at.notified)
		return true;
	if (template_render(s->notify, d->at.blackboard, NULL, &text, &e)) {
		err_wrap(&e, "state %s, notify", s->name);
		return halt(d, &e);
	}
	json_auto_t *event = drive_event(d, "notify");
	json_object_set_new(event, "message", json_stringn(text.data, text.len));
	json_object_set_new(event, "level", json_string(levels[s->notify_level]));
	if (!drive_commit(d, json_incref(event)))
		return false;
	hook_run(&d->live, event);
	/* A stop that came meanwhile is one before the state's work; an end has none. */
	return s->kind == KIND_TERMINAL || may_go_on(d);
}

static bool take_step(struct drive *d)
{
	char reason[POSITION_REASON_BYTES];
	enum state_kind kind = d->at.state->kind;
	if (budget_exhausted(&d->at, d->request->config, reason, sizeof(reason)))
		return finish(d, END_BUDGET, false, reason);
	if (!announce(d))
		return false;
	if (kind != KIND_TOOL && kind != KIND_BRANCH && kind != KIND_TERMINAL)
		jails_clear(&d->live.jails);
	switch (kind) {
	case KIND_TOOL:
	case KIND_AGENT: return take_work(d);
	case KIND_BRANCH: return take_branch(d);
	case KIND_WAIT: return take_wait(d);
	case KIND_TERMINAL:
	case KIND_COUNT: break;
	}
	return finish_terminal(d);
}

void drive_loop(struct drive *d)
{
	while (may_go_on(d) && take_step(d))
		continue;
}
