#include "agent/policy/classify.h"
#include "base/json.h"
#include "cli/verb/verb.h"
#include "report/text.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES_MAX = 1024 * 1024, ARGV_MAX = 4096 };

static void print_verdict(const char *const *argv, size_t argc)
{
	char here[PATH_MAX];
	struct classify_world world = {
		.workspace = getcwd(here, sizeof(here)), .home = getenv("HOME")};
	struct verdict v;
	classify_argv(&world, argv, argc, &v);
	json_auto_t *out = verdict_json(&v);
	text_json_line(out);
}

static int judge_line(const char *line, size_t len, long number)
{
	struct err e = ERR_NONE;
	json_auto_t *list = json_read(line, len, LINE_BYTES_MAX, &e);
	static const char *argv[ARGV_MAX];
	size_t argc = json_array_size(list);
	if (list && (!argc || argc > ARGV_MAX))
		err_set(&e, "expected a list of 1 to %d strings, the command and its arguments",
			ARGV_MAX);
	for (size_t i = 0; !e.text[0] && i < argc; i++)
		if (!(argv[i] = json_string_value(json_array_get(list, i))))
			err_set(&e, "argument %zu is not a string", i);
	if (e.text[0])
		return verb_refuse("line %ld: %s", number, e.text);
	print_verdict(argv, argc);
	return EXIT_OK;
}

static int judge_lines(void)
{
	AUTO_FREE char *line = NULL;
	size_t size = 0;
	ssize_t len;
	for (long number = 1; (len = getline(&line, &size, stdin)) > 0; number++) {
		int code = judge_line(line, (size_t)len, number);
		if (code)
			return code;
	}
	return EXIT_OK;
}

static int run(const struct call *call)
{
	bool lines = call_has(call, "stdin");
	if (lines && !call->argument_count)
		return judge_lines();
	if (lines == (call->argument_count > 0))
		return verb_refuse(
			"say either `agent6 check command -- PROGRAM [ARG...]` or --stdin");
	print_verdict((const char *const *)call->arguments, (size_t)call->argument_count);
	return EXIT_OK;
}

static const struct verb_option options[] = {
	{"stdin", NULL, "judge one JSON list of strings per line of standard input", false},
	{NULL, NULL, NULL, false}};

const struct verb verb_check_command = {.path = "check command",
	.summary = "say how dangerous a command is, and who must agree to it",
	.arguments = "[--] [CMD ARG...]",
	.max_arguments = -1,
	.details = "Prints {\"level\", \"approvals\", \"reasons\"} for the command as it would "
		   "be executed, without a shell around it; shells, wrappers and interpreters in "
		   "it are looked through. Levels, from harmless on: read_only, build, write, "
		   "destructive, privileged, network, denied.\n"
		   "Exit status: 0 judged; 2 no command, or a line that is not a list of "
		   "strings.",
	.options = options,
	.run = run};
