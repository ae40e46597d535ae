#include "base/json.h"
#include "cli/verb/opened_instance.h"
#include "run/ask.h"
#include <stdio.h>
#include <string.h>

/* Returns the open question of an instance that somebody runs. */
static json_t *open_question(
	const struct opened_instance *opened, const struct call *call, struct err *e)
{
	const char *wanted = call_value(call, "question");
	struct holder who;
	if (instance_holder(&opened->instance, &who, e))
		return NULL;
	json_t *doc = who.pid ? ask_read(&opened->instance, e) : NULL;
	if (doc && (!wanted || !strcmp(wanted, json_get_text(doc, "id"))))
		return doc;
	if (!who.pid)
		err_set(e,
			"instance %s is not running, so it asks nothing; `agent6 machine status "
			"%s` shows where it stands",
			opened->instance.id, opened->instance.id);
	else if (doc)
		err_set(e, "question %s is no longer open; the open one is %s", wanted,
			json_get_text(doc, "id"));
	else
		err_set(e, "instance %s asks nothing at the moment", opened->instance.id);
	json_decref(doc);
	return NULL;
}

/* Prints the prompt. A question that cannot be shown is not asked. */
static int print_prompt(const struct question *question, struct err *e)
{
	AUTO_BUF text = BUF_INIT(QUESTION_BYTES_MAX);
	question_prompt(question, &text);
	if (text.failed)
		return err_set(e, "out of memory");
	fputs(text.data, stdout);
	return fflush(stdout) ? err_errno(e, "cannot show the question") : 0;
}

static int converse(struct question *question, struct err *e)
{
	AUTO_FREE char *line = NULL;
	size_t size = 0;
	if (!isatty(STDIN_FILENO))
		return err_set(e, "there is no terminal to ask at: say --yes or --no");
	while (question->stage != QUESTION_ANSWERED) {
		if (print_prompt(question, e))
			return -1;
		if (getline(&line, &size, stdin) < 0)
			question_deny(question);
		else
			question_reply(question, line);
	}
	return 0;
}

static int decide(struct question *question, const struct call *call, struct err *e)
{
	bool yes = call_has(call, "yes"), no = call_has(call, "no");
	if (yes && no)
		return err_set(e, "--yes and --no exclude each other");
	if (!yes && !no)
		return converse(question, e);
	if (print_prompt(question, e))
		return -1;
	puts(yes ? "yes" : "no");
	if (yes)
		return question_approve(question, e);
	question_deny(question);
	return 0;
}

static int answer(const struct opened_instance *opened, const struct call *call, struct err *e)
{
	struct question q;
	json_auto_t *doc = open_question(opened, call, e);
	if (!doc || question_init(&q, doc, e) || decide(&q, call, e))
		return -1;
	return ask_answer(&opened->instance, &q, e);
}

static int run(const struct call *call)
{
	return opened_instance_tell(call, answer);
}

static const struct verb_option options[] = {
	{"yes", NULL, "approve all of it; refused where privileges are asked for", false},
	{"no", NULL, "deny all of it", false},
	{"question", "Q", "answer this question and no other", false}, {NULL, NULL, NULL, false}};

const struct verb verb_machine_approve = {.path = "machine approve",
	.summary = "answer what an agent of a running instance asks",
	.arguments = "ID",
	.min_arguments = 1,
	.max_arguments = 1,
	.acts = true,
	.details = "Shows the commands that wait for an answer and asks, or answers with --yes "
		   "or --no. A question is open while the instance runs in a terminal or is "
		   "watched (`agent6 machine watch ID`), and no longer than "
		   "approval.timeout_secs.\nExit status: 0 answered; 2 nothing to answer, or not "
		   "answered.",
	.options = options,
	.run = run};
