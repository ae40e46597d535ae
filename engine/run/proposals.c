#include "run/proposals.h"

#include "base/json.h"
#include "run/trail.h"

#include <fcntl.h>
#include <string.h>

#define NO_APPROVER "no_approver: nobody is there to approve it"

enum { DECIDED_RUN, DECIDED_ASK, DECIDED_DENY, DECIDED_BLOCK, DECIDED_UNKNOWN };

static const enum audit_type recorded_as[] = {[DECIDED_RUN] = AUDIT_APPROVED,
	[DECIDED_ASK] = AUDIT_DENIED,
	[DECIDED_DENY] = AUDIT_DENIED,
	[DECIDED_BLOCK] = AUDIT_BLOCKED};

static int decision(const json_t *command)
{
	static const char *const names[] = {"run", "ask", "deny", "block"};
	int d = 0;
	while (d < DECIDED_UNKNOWN && strcmp(names[d], json_get_text(command, "decision")) != 0)
		d++;
	return d;
}

void proposals_init(struct proposals *p, struct live *w, const struct step *s, struct pump *pump)
{
	*p = (struct proposals){.live = w, .step = s};
	ask_init(&p->asking, w, pump);
}

/* --- what is recorded ------------------------------------------------------------------------ */

static json_t *line_of(const struct proposals *p, size_t at, enum audit_type type)
{
	const json_t *c = json_array_get(p->commands, at);
	json_t *fields = trail_argv(json_object_get(c, "argv"));
	json_object_set_new(fields, "level", json_string(json_get_text(c, "level")));
	return trail_line(p->live, p->step, type, fields);
}

static int record_proposed(const struct proposals *p, struct err *e)
{
	json_auto_t *lines = json_array();
	for (size_t i = 0; i < json_array_size(p->commands); i++) {
		json_t *line = line_of(p, i, AUDIT_PROPOSED);
		const json_t *reasons = json_object_get(json_array_get(p->commands, i), "reasons");
		json_object_set(line, "reasons", (json_t *)(uintptr_t)reasons);
		json_object_set_new(line, "provider", json_string(p->step->provider->name));
		json_object_set_new(line, "model", json_string(p->step->model));
		json_array_append_new(lines, line);
	}
	return audit_append(&p->live->audit, lines, e);
}

static void refuse_all(struct proposals *p, const char *why)
{
	size_t i;
	json_t *answer;
	json_array_foreach (p->answers, i, answer) {
		json_object_set_new(answer, "run", json_false());
		json_object_set_new(answer, "why", json_string(why));
	}
}

/* How each command of the proposal came out. */
static int record_decisions(const struct proposals *p, struct err *e)
{
	json_auto_t *lines = json_array();
	for (size_t i = 0; i < json_array_size(p->commands); i++) {
		const json_t *answer = json_array_get(p->answers, i);
		int d = decision(json_array_get(p->commands, i));
		bool run = json_is_true(json_object_get(answer, "run"));
		json_t *line = line_of(p, i, run ? AUDIT_APPROVED : recorded_as[d]);
		json_object_set(line, "reason", json_object_get(answer, "why"));
		json_object_set_new(line, "method", json_string(json_get_text(answer, "method")));
		json_array_append_new(lines, line);
	}
	return audit_append(&p->live->audit, lines, e);
}

/* --- the answer ------------------------------------------------------------------------------ */

/* The agent waits for it, so its pipe is empty; one that does not read must not hold us up. */
static int send_answers(const struct proposals *p, struct err *e)
{
	json_auto_t *reply = json_pack("{s:I, s:O}", "id", p->id, "answers", p->answers);
	AUTO_BUF line = BUF_INIT(64 * 1024);
	if (json_write(&line, reply) || buf_addc(&line, '\n'))
		return err_set(e, "an answer to the agent is too long");
	fcntl(*p->to_agent, F_SETFL, O_NONBLOCK);
	if (write(*p->to_agent, line.data, line.len) != (ssize_t)line.len)
		return err_set(e, "the agent does not take its answer");
	return 0;
}

static int conclude(struct proposals *p, struct err *e)
{
	struct err unwritten = ERR_NONE;
	if (record_decisions(p, &unwritten))
		refuse_all(p, unwritten.text);
	int failed = send_answers(p, e);
	json_decref(p->commands);
	json_decref(p->answers);
	p->commands = p->answers = NULL;
	return failed;
}

/* The asked ones in their order. */
static void spread(struct proposals *p, const json_t *granted, const char *method, const char *why)
{
	size_t next = 0;
	for (size_t i = 0; i < json_array_size(p->commands); i++) {
		json_t *answer = json_array_get(p->answers, i);
		if (decision(json_array_get(p->commands, i)) != DECIDED_ASK)
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
			decision(c) == DECIDED_UNKNOWN)
			return false;
		json_array_foreach (json_object_get(c, "argv"), k, word)
			if (!json_is_string(word))
				return false;
	}
	return json_array_size(commands) > 0;
}

static json_t *question_of(const struct proposals *p)
{
	static const char *const shown[] = {"argv", "level", "approvals", "reasons"};
	json_t *asked = json_array();
	for (size_t i = 0; i < json_array_size(p->commands); i++) {
		const json_t *c = json_array_get(p->commands, i);
		json_t *one = decision(c) == DECIDED_ASK ? json_object() : NULL;
		for (size_t k = 0; one && k < ARRAY_LEN(shown); k++)
			json_object_set(one, shown[k], json_object_get(c, shown[k]));
		if (one)
			json_array_append_new(asked, one);
	}
	return json_pack("{s:s, s:s, s:b, s:o}", "instance", p->live->instance->id, "state",
		p->step->state->name, "step", p->live->config->approval.mode == APPROVAL_STEP,
		"commands", asked);
}

/* Opens a question when one is needed and can be asked. True: its answer is awaited. */
static bool awaits_person(struct proposals *p)
{
	struct err e = ERR_NONE;
	json_t *question = question_of(p);
	bool any = json_array_size(json_object_get(question, "commands")) > 0;
	if (!any || !ask_approver(&p->asking)) {
		json_decref(question);
		spread(p, NULL, "policy", NO_APPROVER);
		return false;
	}
	p->asking.answered = on_answered;
	p->asking.ctx = p;
	if (!ask_open(&p->asking, question, &e))
		return true;
	spread(p, NULL, "policy", e.text);
	return false;
}

/* What the operator's settings have decided. */
static void decide(struct proposals *p)
{
	size_t i;
	const json_t *c;
	p->answers = json_array();
	json_array_foreach (p->commands, i, c)
		json_array_append_new(
			p->answers, json_pack("{s:b, s:s, s:s}", "run", decision(c) == DECIDED_RUN,
					    "why", json_get_text(c, "why"), "method", "policy"));
}

int proposals_take(struct proposals *p, const json_t *event, struct err *e)
{
	struct err unwritten = ERR_NONE;
	const json_t *commands = json_object_get(event, "commands");
	if (p->commands)
		return err_set(e, "it proposes while an answer is awaited");
	if (!is_understood(commands) || !json_is_integer(json_object_get(event, "id")))
		return err_set(e, "a proposal is not understood");
	p->id = json_get_int(event, "id");
	p->commands = json_incref((json_t *)(uintptr_t)commands);
	decide(p);
	if (record_proposed(p, &unwritten)) {
		refuse_all(p, unwritten.text);
		live_notice(p->live, "a command is not run: %.900s", unwritten.text);
	} else if (awaits_person(p)) {
		return 0;
	}
	return conclude(p, e);
}

void proposals_done(struct proposals *p)
{
	struct err e = ERR_NONE;
	if (p->commands) {
		spread(p, NULL, "policy", "the agent ended before there was an answer");
		if (record_decisions(p, &e))
			live_notice(p->live, "denied was not recorded: %.900s", e.text);
	}
	json_decref(p->commands);
	json_decref(p->answers);
	ask_done(&p->asking);
}
