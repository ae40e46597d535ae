#include "agent/tools/permit.h"

#include "base/json.h"
#include <string.h>

bool permit_is_argv(const json_t *argv)
{
	size_t argc = json_array_size(argv);
	for (size_t i = 0; i < argc; i++)
		if (!json_is_string(json_array_get(argv, i)))
			return false;
	return argc && argc <= PERMIT_ARGC_MAX && *json_string_value(json_array_get(argv, 0));
}

/* Returns {argv, level, approvals, reasons, decision, why}. */
static json_t *judge(const struct tool_context *context, json_t *argv)
{
	const char *words[PERMIT_ARGC_MAX], *why;
	size_t argc = json_array_size(argv);
	struct classify_world world = {.workspace = context->workspace};
	struct verdict v;
	for (size_t i = 0; i < argc; i++)
		words[i] = json_string_value(json_array_get(argv, i));
	classify_argv(&world, words, argc, &v);
	enum decision d = approve_decide(&context->commands->rules, &v, &why);
	json_t *judged = verdict_json(&v);
	json_object_set(judged, "argv", argv);
	json_object_set_new(judged, "decision", json_string(decision_name(d)));
	json_object_set_new(judged, "why", json_string(why));
	return judged;
}

/* Keeps an answer. A command may run only if the judge here and the supervisor both say so. */
static void keep_answer(json_t *command, const json_t *answer)
{
	enum decision decision = decision_find(json_get_text(command, "decision"));
	const json_t *why = json_object_get(answer, "why");
	bool may = decision == DECIDE_RUN || decision == DECIDE_ASK;
	json_object_set_new(
		command, "run", json_boolean(may && json_is_true(json_object_get(answer, "run"))));
	if (json_is_string(why))
		json_object_set(command, "why", (json_t *)(uintptr_t)why);
	else
		json_object_set_new(command, "why", json_string("the supervisor did not answer"));
}

void permit_batch(const struct tool_context *context, json_t *argvs)
{
	struct permits *p = context->commands->permits;
	size_t i;
	json_t *argv, *command;
	json_t *commands = json_array();
	json_array_foreach (argvs, i, argv)
		json_array_append_new(commands, judge(context, argv));
	json_auto_t *reply = context->propose(context->ctx, commands);
	const json_t *answers = json_object_get(reply, "answers");
	json_array_foreach (commands, i, command)
		keep_answer(command, json_array_get(answers, i));
	permit_forget(p);
	p->waiting = commands;
}

/* Returns the waiting answer for exactly this argv; NULL: there is none. New reference. */
static json_t *take_waiting(struct permits *permits, const json_t *argv)
{
	json_t *first = json_array_get(permits->waiting, 0);
	if (!first || !json_equal(json_object_get(first, "argv"), argv))
		return NULL;
	json_incref(first);
	json_array_remove(permits->waiting, 0);
	return first;
}

bool permit_take(const struct tool_context *context, const json_t *argv, struct buf *out)
{
	struct permits *p = context->commands->permits;
	json_auto_t *answer = take_waiting(p, argv);
	if (!answer) {
		json_auto_t *alone = json_pack("[O]", argv);
		permit_batch(context, alone);
		answer = take_waiting(p, argv);
	}
	if (json_is_true(json_object_get(answer, "run")))
		return true;
	size_t i;
	json_t *reason;
	buf_addf(out, "Not run (%s): %s.\n", json_string_value(json_object_get(answer, "level")),
		json_string_value(json_object_get(answer, "why")));
	json_array_foreach (json_object_get(answer, "reasons"), i, reason)
		buf_addf(out, "- %s\n", json_string_value(reason));
	return false;
}

void permit_forget(struct permits *permits)
{
	json_decref(permits->waiting);
	permits->waiting = NULL;
}
