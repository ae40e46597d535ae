#include "agent/loop_private.h"

#include "agent/emit.h"
#include "agent/exchange.h"
#include "agent/finish.h"
#include "agent/markup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "launch/launcher.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { TURNS_NOTICE = 5, BUDGET_NOTICE_PERCENT = 80 };

static const char circle_text[] =
	"this call has now given the same result three times. Do something else: use what you "
	"know, or end with finish_run. One more repetition ends this step.";
static const char go_on_text[] =
	"Go on with the task. Use your tools, and end by calling finish_run.";
static const char quiet_text[] = "You have answered three times without calling a tool. Call "
				 "finish_run now with your result, "
				 "or another tool; one more answer without a call ends this step.";

int loop_end(struct loop *loop, enum outcome outcome, const char *format, ...)
{
	if (loop->out->reason[0])
		return -1;
	va_list args;
	va_start(args, format);
	vsnprintf(loop->out->reason, sizeof(loop->out->reason), format, args);
	va_end(args);
	utf8_copy(loop->out->reason, sizeof(loop->out->reason), loop->out->reason);
	loop->out->outcome = outcome;
	return -1;
}

int loop_tell(struct loop *loop, const char *format, ...)
{
	struct wire_turn *last = &loop->talk.turns[loop->talk.count - 1];
	/* The last turn is the model's own if it paused. */
	if (last->role == WIRE_ASSISTANT && (last = wire_talk_add(&loop->talk, WIRE_USER)))
		last->text = strdup("");
	if (!last)
		return loop_end(loop, OUTCOME_FAILED, "out of memory");
	char **text = last->role == WIRE_RESULTS ? &last->results[last->result_count - 1].text
						 : &last->text;
	AUTO_FREE char *notice = NULL;
	char *joined = NULL;
	va_list args;
	va_start(args, format);
	int rc = vasprintf(&notice, format, args);
	va_end(args);
	if (rc < 0 || !*text || asprintf(&joined, "%s\n[agent6: %s]", *text, notice) < 0)
		return loop_end(loop, OUTCOME_FAILED, "out of memory");
	free(*text);
	*text = joined;
	return 0;
}

void loop_keep(const struct loop *loop, const struct wire_turn *wire_turn)
{
	emit(EVENT_MESSAGE, exchange_message(wire_turn, &loop->redact));
}

static void report_turn(
	struct loop *loop, const struct wire_request *request, const struct wire_turn *turn)
{
	json_t *event = ledger_json(&loop->ledger);
	json_object_set_new(event, "turn", json_integer((json_int_t)loop->out->turns));
	emit(EVENT_TURN, event);
	if (turn)
		loop_keep(loop, turn);
	if (loop->task->record && turn)
		emit(EVENT_EXCHANGE,
			json_pack("{s:o, s:o}", "request", exchange_request(request), "reply",
				exchange_reply(turn, &loop->worker.spent, &loop->redact)));
	channels_report(loop->world->channels);
}

/* Checks the metering after each call: if the cost of an answer is unknown and a budget must hold,
 * the answer is not used. */
static int check_metered(struct loop *loop)
{
	if (!loop->ledger.unmetered || !ledger_is_hard(&loop->ledger))
		return 0;
	return loop_end(loop, OUTCOME_FAILED,
		"the provider did not report both input and output tokens as they can be, so the "
		"budget cannot be held; a budget needs a provider that reports its usage");
}

/* Checks before each call: the turn cap, the clock, the budgets. */
static int may_call(struct loop *loop)
{
	const struct agent_limits *m = &loop->task->limits;
	const char *used_up = ledger_reached(&loop->ledger);
	if (check_metered(loop))
		return -1;
	if (used_up)
		return loop_end(loop, OUTCOME_BUDGET_EXHAUSTED, "%s", used_up);
	if (clock_monotonic_ms() >= loop->deadline_ms)
		return loop_end(loop, OUTCOME_TIMEOUT, "timeout_secs (%lld) is over",
			(long long)m->timeout_secs);
	if (loop->out->turns >= (size_t)m->max_iterations)
		return loop_end(loop, OUTCOME_FAILED,
			"iteration limit: %lld turns without finish_run",
			(long long)m->max_iterations);
	return 0;
}

/* Handles a turn without a call. Mistral and Anthropic refuse an empty turn, and a text after
 * results leads to further quiet turns, so the notice goes into the newest text instead. */
static int on_quiet(struct loop *loop, bool silent)
{
	enum guard_verdict v = guard_turn(&loop->dispatch.guard, true);
	if (v == GUARD_STOP && loop->markup)
		return loop_end(loop, OUTCOME_FAILED,
			"no progress: the model called no tool, but wrote %s as text, so the "
			"server's tool parser does not take its calls (vLLM: "
			"--enable-auto-tool-choice and --tool-call-parser; llama.cpp: --jinja; "
			"Ollama, LM Studio: a template of the model that knows tools)",
			loop->markup);
	if (v == GUARD_STOP)
		return loop_end(loop, OUTCOME_FAILED,
			"no progress: the model stopped without calling finish_run");
	const char *text = v == GUARD_WARN ? quiet_text : go_on_text;
	if (silent)
		return loop_tell(loop, "%s", text);
	struct wire_turn *say = wire_talk_add(&loop->talk, WIRE_USER);
	if (say)
		say->text = strdup(text);
	if (!say || !say->text)
		return loop_end(loop, OUTCOME_FAILED, "out of memory");
	loop_keep(loop, say);
	return 0;
}

/* Continues the turn as it is, a limited number of times. */
static int on_pause(struct loop *loop)
{
	return guard_turn(&loop->dispatch.guard, true) == GUARD_STOP
		       ? loop_end(loop, OUTCOME_FAILED,
				 "no progress: the model paused again and again")
		       : 0;
}

/* Adds notices to the results: about repetition, the budget, and the turns that are left. */
static int advise(struct loop *loop)
{
	int64_t left = loop->task->limits.max_iterations - (int64_t)loop->out->turns;
	if (loop->dispatch.verdict == GUARD_WARN && loop_tell(loop, "%s", circle_text))
		return -1;
	if (loop->dispatch.payload)
		return 0;
	int64_t percent = ledger_percent(&loop->ledger);
	if (percent >= BUDGET_NOTICE_PERCENT && !loop->told_budget) {
		loop->told_budget = true;
		if (loop_tell(loop,
			    "%lld %% of this step's budget is used; end it with finish_run before",
			    (long long)percent))
			return -1;
	}
	if (left != 1 && left != TURNS_NOTICE)
		return 0;
	if (left == 1)
		return loop_tell(loop, "this is the last turn of this step: call finish_run now");
	return loop_tell(loop, "%lld turns are left in this step; end it with finish_run before",
		(long long)left);
}

static int on_calls(struct loop *loop, size_t at)
{
	guard_turn(&loop->dispatch.guard, false);
	struct wire_turn *results = wire_talk_add(&loop->talk, WIRE_RESULTS);
	if (!results || dispatch_turn(&loop->dispatch, &loop->talk.turns[at], results) ||
		advise(loop))
		return loop_end(loop, OUTCOME_FAILED, "out of memory");
	loop_keep(loop, results);
	if (loop->dispatch.payload)
		return loop_end(loop, OUTCOME_OK, "finish_run");
	if (*loop->dispatch.ended)
		return loop_end(loop, OUTCOME_FAILED, "%s", loop->dispatch.ended);
	if (launcher_gone(loop->world->launcher))
		return loop_end(
			loop, OUTCOME_FAILED, "the jail's launcher has ended: no command can run");
	if (loop->dispatch.gave_up)
		return loop_end(loop, OUTCOME_FAILED,
			"finish_run did not conform after %d repairs: %s", FINISH_REPAIRS_MAX,
			loop->dispatch.problems);
	if (loop->dispatch.verdict == GUARD_STOP)
		return loop_end(loop, OUTCOME_FAILED,
			"no progress: the same call gave the same result again after a notice%s%s",
			*loop->dispatch.problems ? ": " : "", loop->dispatch.problems);
	return 0;
}

static int on_reply(struct loop *loop, struct wire_reply *reply)
{
	if (reply->stop == WIRE_STOP_REFUSAL)
		return loop_end(loop, OUTCOME_FAILED, "the model refused%s%s",
			reply->stop_detail[0] ? ": " : "", reply->stop_detail);
	if (reply->stop == WIRE_STOP_LENGTH)
		return loop_cut(loop);
	if (reply->stop == WIRE_STOP_CONTEXT) {
		struct fault f = FAULT_INIT;
		fault_set(&f, FAULT_CONTEXT, "the model ran out of context");
		return loop_call_failed(loop, &f);
	}
	loop->doubled = loop->told_cut = false;
	window_answered(&loop->window, loop->worker.counted);
	if (!*reply->turn.raw)
		return on_quiet(loop, true);
	struct wire_turn *turn = wire_talk_add(&loop->talk, WIRE_ASSISTANT);
	if (!turn)
		return loop_end(loop, OUTCOME_FAILED, "out of memory");
	*turn = reply->turn;
	reply->turn = (struct wire_turn){0};
	if (turn->call_count)
		return on_calls(loop, loop->talk.count - 1);
	loop->markup = markup_find(turn->raw);
	return reply->stop == WIRE_STOP_PAUSE ? on_pause(loop) : on_quiet(loop, false);
}

static int step(struct loop *loop)
{
	if (may_call(loop) || (window_keep(&loop->window) && may_call(loop)))
		return -1;
	loop->output_cap = ledger_output_cap(
		&loop->ledger, loop->task->provider.prices, loop_wanted_tokens(loop));
	struct wire_request r = {.model = loop->task->model,
		.system = loop->system,
		.talk = &loop->talk,
		.tools = loop->declarations,
		.max_tokens = loop->output_cap,
		.thinking = loop->task->thinking,
		.temperature = isnan(loop->task->temperature) ? NULL : &loop->task->temperature};
	struct wire_reply reply = {.stop = WIRE_STOP_END};
	struct fault f = FAULT_INIT;
	window_sent(&loop->window);
	int rc = metered_client_ask(&loop->worker, &r, loop->out->turns, &reply, &f);
	loop->out->turns++;
	report_turn(loop, &r, rc ? NULL : &reply.turn);
	rc = rc ? loop_call_failed(loop, &f) : check_metered(loop) ? -1 : on_reply(loop, &reply);
	wire_turn_done(&reply.turn);
	return rc;
}

int loop_run(const struct agent_task *task, const struct loop_world *world, struct loop_result *out,
	struct err *e)
{
	*out = (struct loop_result){.outcome = OUTCOME_FAILED};
	struct loop l = {.task = task, .world = world, .out = out};
	int rc = loop_begin(&l, e);
	while (!rc && !step(&l))
		;
	out->ledger = l.ledger;
	out->payload = l.dispatch.payload;
	metered_client_close(&l.worker);
	turn_summary_close(&l.summary);
	digest_done(&l.dispatch.digest);
	loop_forget_keys(&l);
	permit_forget(&l.permits);
	wire_talk_done(&l.talk);
	json_decref(l.declarations);
	free(l.system);
	return rc;
}
