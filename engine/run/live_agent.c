#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "instance/states.h"
#include "launch/orphans.h"
#include "launch/output.h"
#include "launch/planted.h"
#include "run/agent_events.h"
#include "run/egress.h"
#include "run/live.h"
#include "run/proposals.h"
#include "run/pump.h"
#include "run/recording.h"
#include "run/run_audit.h"
#include "run/secret.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum {
	CONFINE_MS = 60 * 1000, /* to start and confine itself */
	GRACE_MS = 5 * 1000,    /* the agent keeps its own time; this is for one that hangs */
	STDERR_BYTES_MAX = 64 * 1024,
	LOG_BYTES_MAX = 64 * 1024 * 1024,
};

/* A log file for people, up to LOG_BYTES_MAX. */
struct log {
	const char *name;
	int fd; /* -1: closed, after an error */
	int64_t bytes;
	struct err cut; /* why part of it is missing */
};

struct talk {
	struct live *live;
	const struct step *step;
	struct agent_events events;
	struct output err;
	struct secret_child secret;
	struct proposals proposals;
	bool asked; /* the second line is being written */
	struct buf secret_error;
	struct pump pump;
	struct child child;
	int to_agent; /* the write end of its request pipe; owned */
	int dir_fd;
	struct log events_log, transcript;
	struct buf recorded; /* exchanges for the cassette */
	json_t *planted;     /* repositories made by its commands; owned; NULL: none */
	struct err why;      /* LIVE_BROKEN */
};

static void secret_take(void *ctx, const char *bytes, size_t len)
{
	struct talk *t = ctx;
	if (len)
		buf_add(&t->secret_error, bytes, len);
	else
		secret_end(&t->secret);
	if (!len && t->secret_error.len)
		t->pump.stop = true;
}

/* Sends the second line once the agent has confined itself: only then may it have its work and the
 * key. */
static void send_request(struct talk *talk)
{
	if (talk->asked)
		return;
	talk->asked = true;
	int failed = secret_start(&talk->live->keys, &talk->step->agent_task, talk->to_agent,
		&talk->secret, &talk->why);
	if (failed) {
		talk->pump.stop = true;
		return;
	}
	talk->pump.deadline_ms = clock_monotonic_ms() + talk->step->timeout_secs * 1000 + GRACE_MS;
	struct pump_stream *s = &talk->pump.streams[talk->pump.stream_count++];
	*s = (struct pump_stream){talk->secret.error_fd, secret_take, talk};
	talk->secret.error_fd = -1; /* the pump owns it now */
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
}

static void log_open(struct talk *talk, const char *name, struct log *out)
{
	*out = (struct log){.name = name};
	out->fd = io_open_plain(talk->dir_fd, name, O_WRONLY | O_CREAT | O_APPEND, &out->cut);
}

/* Closes the log after the first error: a transcript with a gap must not pass for a whole one. */
static void log_cut(struct talk *talk, struct log *log)
{
	own_close(&log->fd);
	log->bytes = INT64_MAX;
	live_notice(talk->live, "state %s: %s is not whole: %.600s", talk->step->state->name,
		log->name, log->cut.text);
}

static void log_add(struct talk *talk, struct log *log, const json_t *line)
{
	AUTO_FREE char *text = json_text(line);
	size_t len = text ? strlen(text) : 0;
	if (log->bytes == INT64_MAX)
		return;
	log->bytes += (int64_t)len + 1;
	if (!text)
		err_set(&log->cut, "out of memory");
	else if (log->fd >= 0 && log->bytes > LOG_BYTES_MAX)
		err_set(&log->cut, "it would be larger than %d MiB", LOG_BYTES_MAX >> 20);
	else if (text[len] = '\n', log->fd >= 0 && io_write(log->fd, text, len + 1))
		err_errno(&log->cut, "cannot write it");
	if (*log->cut.text)
		log_cut(talk, log);
}

/* Adds the reasons to the fact, such as "transcript.jsonl: cannot write it: No space left on
 * device". */
static void add_logs_cut(const struct talk *talk, struct fact *fact)
{
	const struct log *const logs[] = {&talk->transcript, &talk->events_log};
	AUTO_BUF text = BUF_INIT(4096);
	for (size_t i = 0; i < ARRAY_LEN(logs); i++)
		if (*logs[i]->cut.text)
			buf_addf(&text, "%s%s: %.600s", text.len ? "; " : "", logs[i]->name,
				logs[i]->cut.text);
	if (text.len)
		fact->logs_cut = fact_text(fact, text.data);
}

/* Notes the spending, so that it can be booked if the attempt is killed. If the note cannot be
 * written, the agent is stopped before it spends more. After a result this does not matter: the
 * journal is about to get all of it. */
static void note_spend(struct talk *talk, bool result)
{
	struct err e = ERR_NONE;
	if (!states_note_spend(talk->dir_fd, talk->step->execution, &talk->events.most, &e) ||
		result)
		return;
	err_set(&talk->why, "its spending cannot be noted, so it was stopped: %.900s", e.text);
	talk->pump.stop = true;
}

enum { PLANTED_MAX = 1000 };

/* Takes the agent's report of planted repositories, which it has from the launcher. */
static void take_planted(struct talk *talk, const json_t *line)
{
	AUTO_JAIL_STATUS report = jail_status_of(json_incref((json_t *)(uintptr_t)line));
	AUTO_JAIL_STATUS checked = jail_status_of(planted_checked(&report));
	json_auto_t *list = live_planted(talk->live, talk->step, &checked);
	if (list && !talk->planted)
		talk->planted = json_array();
	if (json_array_size(talk->planted) < PLANTED_MAX)
		json_array_extend(talk->planted, list);
}

static void show_spend(struct live *live, const struct spend *spend)
{
	live->now.input_tokens = spend->input_tokens;
	live->now.output_tokens = spend->output_tokens;
	live->now.microusd = spend->microusd;
	live->now.unpriced = spend->unpriced;
	live->now.unmetered = spend->unmetered;
	live_tick(live);
}

static void on_audit(struct talk *talk, const json_t *line)
{
	run_audit_take(talk->live, talk->step, line);
	if (json_object_get(line, "planted"))
		take_planted(talk, line);
}

static void on_proposal(struct talk *talk, const json_t *line)
{
	struct err e = ERR_NONE;
	if (!proposals_take(&talk->proposals, line, &e))
		return;
	live_notice(talk->live, "state %s: %s", talk->step->state->name, e.text);
	talk->pump.stop = true;
}

static void on_event(void *ctx, enum agent_event event, const json_t *line)
{
	struct talk *t = ctx;
	switch (event) {
	case EVENT_CONFINED: send_request(t); break;
	case EVENT_AUDIT: on_audit(t, line); break;
	case EVENT_PROPOSAL: on_proposal(t, line); break;
	case EVENT_EXCHANGE:
		if (t->live->record_fd >= 0)
			recording_exchange(&t->recorded, t->step->state->name, line);
		break;
	case EVENT_NOTICE:
		if (json_is_string(json_object_get(line, "text")))
			live_notice(t->live, "state %s: %.900s", t->step->state->name,
				json_get_text(line, "text"));
		break;
	case EVENT_SPENT:
	case EVENT_TURN:
	case EVENT_RESULT:
		note_spend(t, event == EVENT_RESULT);
		show_spend(t->live, &t->events.spend);
		break;
	case EVENT_MESSAGE:
	case EVENT_TOOL:
	case EVENT_EGRESS:
	case EVENT_COUNT: break;
	}
	log_add(t, event == EVENT_MESSAGE ? &t->transcript : &t->events_log, line);
}

static void events_take(void *ctx, const char *bytes, size_t len)
{
	struct talk *t = ctx;
	agent_events_take(&t->events, bytes, len);
	if (t->events.garbled)
		t->pump.stop = true;
}

static int start_agent(struct talk *talk, struct err *e)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
	char *argv[] = {"agent6-agent", NULL};
	char *env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL};
	int failed = pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)
			     ? err_errno(e, "cannot make a pipe")
			     : 0;
	int fds[] = {in[0], out[1], err[1]};
	struct child_spec spec = {talk->live->agent, argv, env, fds, (int)ARRAY_LEN(fds), true};
	if (!failed)
		failed = child_start(&spec, &talk->child, e);
	own_close(&in[0]);
	own_close(&out[1]);
	own_close(&err[1]);
	talk->to_agent = in[1];
	talk->pump.streams[0] = (struct pump_stream){out[0], events_take, talk};
	talk->pump.streams[1] = (struct pump_stream){err[0], output_take, &talk->err};
	talk->pump.stream_count = 2;
	return failed;
}

static int send_order(struct talk *talk, struct err *e)
{
	json_auto_t *order = agent_order_encode(&talk->step->agent_order);
	AUTO_FREE char *line = order ? json_text(order) : NULL;
	if (!line || io_write(talk->to_agent, line, strlen(line)) ||
		io_write(talk->to_agent, "\n", 1))
		return err_errno(e, "the agent process did not take its orders");
	return 0;
}

static void agent_fact(const struct talk *talk, struct fact *out)
{
	agent_events_fact(&talk->events, talk->pump.late, out);
	out->agent.provider = fact_text(out, talk->step->provider->name);
	out->agent.model = fact_text(out, talk->step->model);
	out->agent.spend = talk->events.most;
	out->agent.turns = talk->events.turns;
	if (talk->planted)
		out->moved_aside = fact_hold(out, json_incref(talk->planted));
	add_logs_cut(talk, out);
}

/* Reports whether a stop request killed the agent: by itself it never ends by a signal. */
static bool was_stopped(struct talk *talk)
{
	return !talk->events.ended && WIFSIGNALED(talk->pump.status) &&
	       WTERMSIG(talk->pump.status) == SIGTERM && interrupts_stop(&talk->live->interrupts);
}

static enum live_end judge(struct talk *talk, struct fact *fact, json_t **egress, struct err *e)
{
	if (talk->pump.interrupted || was_stopped(talk))
		return LIVE_INTERRUPTED;
	if (*talk->why.text)
		return err_set(e, "%s", talk->why.text), LIVE_BROKEN;
	if (talk->secret_error.len)
		return err_set(e, "state %s: %s", talk->step->state->name, talk->secret_error.data),
		       LIVE_REFUSED;
	if (!talk->events.confined) {
		const char *reason = talk->events.result.reason;
		err_set(e, "the agent could not confine itself: %.600s",
			reason                 ? reason
			: talk->pump.late      ? "it took more than a minute"
			: talk->events.garbled ? talk->events.fault
					       : "it ended without a reason");
		return LIVE_NO_SANDBOX;
	}
	recording_keep(talk->live, talk->step, talk->dir_fd, &talk->recorded);
	agent_fact(talk, fact);
	*egress = json_incref(talk->events.egress);
	run_audit_egress(talk->live, talk->step, *egress);
	return LIVE_FACT;
}

static void on_tick(void *ctx)
{
	struct talk *t = ctx;
	live_tick(t->live);
	ask_tick(&t->proposals.asking);
}

static enum live_end converse(struct talk *talk, struct fact *fact, json_t **egress, struct err *e)
{
	talk->pump.child = &talk->child;
	talk->pump.interrupts = &talk->live->interrupts;
	talk->pump.tick_ms = talk->live->listener->tick_ms;
	talk->pump.tick = on_tick;
	talk->pump.ctx = talk;
	talk->pump.deadline_ms = clock_monotonic_ms() + CONFINE_MS;
	if (start_agent(talk, e)) {
		for (int i = 0; i < talk->pump.stream_count; i++)
			own_close(&talk->pump.streams[i].fd);
		return LIVE_BROKEN;
	}
	struct err unsent = ERR_NONE;
	if (send_order(talk, &unsent))
		talk->pump.stop = true; /* the agent has ended; its result line tells why */
	if (pump_run(&talk->pump, e))
		return LIVE_BROKEN;
	states_write(talk->dir_fd, "stderr", talk->step->attempt, talk->err.bytes, talk->err.len);
	return judge(talk, fact, egress, e);
}

enum live_end live_agent(struct live *live, const struct step *step, struct fact *fact,
	json_t **egress, struct err *e)
{
	struct talk t = {
		.live = live, .step = step, .secret = {-1, -1}, .child = {-1, -1}, .to_agent = -1};
	if (live_check_left(live, e))
		return LIVE_NO_SANDBOX;
	t.dir_fd = states_open(live->instance, step->dir, live->config->machine.state_log_keep, e);
	if (t.dir_fd < 0)
		return LIVE_BROKEN;
	if (states_note_spend(t.dir_fd, step->execution, NULL, e)) {
		err_wrap(e, "its spending could not be noted, so it was not started");
		own_close(&t.dir_fd);
		return LIVE_BROKEN;
	}
	log_open(&t, "events.jsonl", &t.events_log);
	log_open(&t, "transcript.jsonl", &t.transcript);
	agent_events_init(&t.events);
	t.events.each = on_event;
	t.events.ctx = &t;
	output_init(&t.err, STDERR_BYTES_MAX);
	buf_init(&t.secret_error, 4096);
	buf_init(&t.recorded, TAPE_BYTES_MAX);
	proposals_init(&t.proposals, live, step, &t.pump);
	t.proposals.to_agent = &t.to_agent;
	enum live_end end = converse(&t, fact, egress, e);
	proposals_done(&t.proposals);
	secret_end(&t.secret);
	/* A killed agent leaves its broker, its launcher and a command's processes. Nobody hears
	 * what that command made, but commands write in the clone alone, and the clone goes back to
	 * the tree before this step (workspace_settle) before the failure is committed. */
	orphans_end();
	own_close(&t.to_agent);
	own_close(&t.events_log.fd);
	own_close(&t.transcript.fd);
	own_close(&t.dir_fd);
	agent_events_done(&t.events);
	output_done(&t.err);
	buf_done(&t.secret_error);
	buf_done(&t.recorded);
	json_decref(t.planted);
	return end;
}
