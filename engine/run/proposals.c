#include "run/proposals.h"

#include "base/json.h"
#include "run/run_audit.h"

#include <fcntl.h>
#include <string.h>

#define NO_APPROVER "no_approver: nobody is there to approve it"

/* A question that nobody has answered with yes is denied. */
static const enum audit_type recorded_as[] = {[DECIDE_RUN] = AUDIT_APPROVED,
	[DECIDE_ASK] = AUDIT_DENIED,
	[DECIDE_DENY] = AUDIT_DENIED,
	[DECIDE_BLOCK] = AUDIT_BLOCKED};

static enum decision decision_of(const json_t *command)
{
	return decision_find(json_get_text(command, "decision"));
}

void proposals_init(
	struct proposals *proposals, struct live *live, const struct step *step, struct pump *pump)
{
	*proposals = (struct proposals){.live = live, .step = step};
	ask_init(&proposals->asking, live, pump);
}

/* --- what is recorded ------------------------------------------------------------------------ */

static json_t *line_of(const struct proposals *proposals, size_t at, enum audit_type type)
{
	const json_t *c = json_array_get(proposals->commands, at);
	json_t *fields = run_audit_argv(json_object_get(c, "argv"));
	json_object_set_new(fields, "level", json_string(json_get_text(c, "level")));
	return run_audit_line(proposals->live, proposals->step, type, fields);
}

static int record_proposed(const struct proposals *proposals, struct err *e)
{
	json_auto_t *lines = json_array();
	for (size_t i = 0; i < json_array_size(proposals->commands); i++) {
		json_t *line = line_of(proposals, i, AUDIT_PROPOSED);
		const json_t *reasons =
			json_object_get(json_array_get(proposals->commands, i), "reasons");
		json_object_set(line, "reasons", (json_t *)(uintptr_t)reasons);
		json_object_set_new(line, "provider", json_string(proposals->step->provider->name));
		json_object_set_new(line, "model", json_string(proposals->step->model));
		json_array_append_new(lines, line);
	}
	return audit_append(&proposals->live->audit, lines, e);
}

static void refuse_all(struct proposals *proposals, const char *why)
{
	size_t i;
	json_t *answer;
	json_array_foreach (proposals->answers, i, answer) {
		json_object_set_new(answer, "run", json_false());
		json_object_set_new(answer, "why", json_string(why));
	}
}

/* Records the decision on each command of the proposal. */
static int record_decisions(const struct proposals *proposals, struct err *e)
{
	json_auto_t *lines = json_array();
	for (size_t i = 0; i < json_array_size(proposals->commands); i++) {
		const json_t *answer = json_array_get(proposals->answers, i);
		enum decision d = decision_of(json_array_get(proposals->commands, i));
		bool run = json_is_true(json_object_get(answer, "run"));
		json_t *line = line_of(proposals, i, run ? AUDIT_APPROVED : recorded_as[d]);
		json_object_set(line, "reason", json_object_get(answer, "why"));
		json_object_set_new(line, "method", json_string(json_get_text(answer, "method")));
		json_array_append_new(lines, line);
	}
	return audit_append(&proposals->live->audit, lines, e);
}

/* --- the answer ------------------------------------------------------------------------------ */

/* Sends the answers to the agent. It waits for them, so its pipe is empty; an agent that does not
 * read must not block this process. */
static int send_answers(const struct proposals *proposals, struct err *e)
{
	json_auto_t *reply =
		json_pack("{s:I, s:O}", "id", proposals->id, "answers", proposals->answers);
	AUTO_BUF line = BUF_INIT(64 * 1024);
	if (json_write(&line, reply) || buf_addc(&line, '\n'))
		return err_set(e, "an answer to the agent is too long");
	fcntl(*proposals->to_agent, F_SETFL, O_NONBLOCK);
	if (write(*proposals->to_agent, line.data, line.len) != (ssize_t)line.len)
		return err_set(e, "the agent does not take its answer");
	return 0;
}

static int conclude(struct proposals *proposals, struct err *e)
{
	struct err unwritten = ERR_NONE;
	if (record_decisions(proposals, &unwritten))
		refuse_all(proposals, unwritten.text);
	int failed = send_answers(proposals, e);
	json_decref(proposals->commands);
	json_decref(proposals->answers);
	proposals->commands = proposals->answers = NULL;
	return failed;
}

/* Gives each command that was asked about its answer, in order. */
static void spread(
	struct proposals *proposals, const json_t *granted, const char *method, const char *why)
{
	size_t next = 0;
	for (size_t i = 0; i < json_array_size(proposals->commands); i++) {
		json_t *answer = json_array_get(proposals->answers, i);
		if (decision_of(json_array_get(proposals->commands, i)) != DECIDE_ASK)
			continue;
		const json_t *given = json_array_get(granted, next++);
		bool yes = json_is_true(given);
		json_object_set_new(answer, "run", json_boolean(yes));
		json_object_set_new(answer, "why", json_string(yes ? "approved by a person" : why));
		json_object_set_new(answer, "method", json_string(method));
	}
}

static void on_answered(void *ctx, const json_t *granted, enum ask_by by)
{
	struct proposals *p = ctx;
	struct err e = ERR_NONE;
	char late[80];
	snprintf(late, sizeof(late), "nobody answered within %lld seconds",
		(long long)p->live->config->approval.timeout_secs);
	switch (by) {
	case ASK_PERSON: spread(p, granted, "human", "a person said no"); break;
	case ASK_TIMEOUT: spread(p, granted, "timeout", late); break;
	case ASK_NOBODY: spread(p, granted, "policy", NO_APPROVER); break;
	}
	if (conclude(p, &e)) {
		live_notice(p->live, "%s", e.text);
		p->asking.pump->stop = true;
	}
}

/* --- the proposal ---------------------------------------------------------------------------- */

static bool is_understood(const json_t *commands)
{
	size_t i, k;
	const json_t *c, *word;
	json_array_foreach (commands, i, c) {
		if (!json_array_size(json_object_get(c, "argv")) || !*json_get_text(c, "level") ||
			decision_of(c) == DECIDE_COUNT)
			return false;
		json_array_foreach (json_object_get(c, "argv"), k, word)
			if (!json_is_string(word))
				return false;
	}
	return json_array_size(commands) > 0;
}

static json_t *question_of(const struct proposals *proposals)
{
	static const char *const shown[] = {"argv", "level", "approvals", "reasons"};
	json_t *asked = json_array();
	for (size_t i = 0; i < json_array_size(proposals->commands); i++) {
		const json_t *c = json_array_get(proposals->commands, i);
		json_t *one = decision_of(c) == DECIDE_ASK ? json_object() : NULL;
		for (size_t k = 0; one && k < ARRAY_LEN(shown); k++)
			json_object_set(one, shown[k], json_object_get(c, shown[k]));
		if (one)
			json_array_append_new(asked, one);
	}
	return json_pack("{s:s, s:s, s:b, s:o}", "instance", proposals->live->instance->id, "state",
		proposals->step->state->name, "step",
		proposals->live->config->approval.mode == APPROVAL_STEP, "commands", asked);
}

/* Opens a question if one is needed and can be asked. Returns true if its answer is awaited. */
static bool awaits_person(struct proposals *proposals)
{
	struct err e = ERR_NONE;
	json_t *question = question_of(proposals);
	bool any = json_array_size(json_object_get(question, "commands")) > 0;
	if (!any || !ask_approver(&proposals->asking)) {
		json_decref(question);
		spread(proposals, NULL, "policy", NO_APPROVER);
		return false;
	}
	proposals->asking.answered = on_answered;
	proposals->asking.ctx = proposals;
	if (!ask_open(&proposals->asking, question, &e))
		return true;
	spread(proposals, NULL, "policy", e.text);
	return false;
}

/* Applies the decisions of the operator's settings. */
static void decide(struct proposals *proposals)
{
	size_t i;
	const json_t *c;
	proposals->answers = json_array();
	json_array_foreach (proposals->commands, i, c)
		json_array_append_new(proposals->answers,
			json_pack("{s:b, s:s, s:s}", "run", decision_of(c) == DECIDE_RUN, "why",
				json_get_text(c, "why"), "method", "policy"));
}

int proposals_take(struct proposals *proposals, const json_t *event, struct err *e)
{
	struct err unwritten = ERR_NONE;
	const json_t *commands = json_object_get(event, "commands");
	if (proposals->commands)
		return err_set(e, "it proposes while an answer is awaited");
	if (!is_understood(commands) || !json_is_integer(json_object_get(event, "id")))
		return err_set(e, "a proposal is not understood");
	proposals->id = json_get_int(event, "id");
	proposals->commands = json_incref((json_t *)(uintptr_t)commands);
	decide(proposals);
	if (record_proposed(proposals, &unwritten)) {
		refuse_all(proposals, unwritten.text);
		live_notice(proposals->live, "a command is not run: %.900s", unwritten.text);
	} else if (awaits_person(proposals)) {
		return 0;
	}
	return conclude(proposals, e);
}

void proposals_done(struct proposals *proposals)
{
	struct err e = ERR_NONE;
	if (proposals->commands) {
		spread(proposals, NULL, "policy", "the agent ended before there was an answer");
		if (record_decisions(proposals, &e))
			live_notice(proposals->live, "denied was not recorded: %.900s", e.text);
	}
	json_decref(proposals->commands);
	json_decref(proposals->answers);
	ask_done(&proposals->asking);
}
