#include "cli/verb/setup.h"
#include "config/operator_file.h"

enum { KEYS_BYTES_MAX = 4096 };

static int try_and_save(struct operator_file *file, const struct config_paths *paths, struct err *e)
{
	struct findings findings;
	findings_init(&findings);
	int failed = operator_file_try(file, paths, &findings, e);
	findings_done(&findings);
	return failed ? -1 : operator_file_save(file, e);
}

static int set(const struct call *call, const struct config_paths *paths, struct err *e)
{
	struct operator_file f;
	AUTO_BUF meant = BUF_INIT(KEYS_BYTES_MAX);
	if (config_keys_ending(call->arguments[0], &meant))
		return err_set(e, "there is no setting '%s'; did you mean %s?", call->arguments[0],
			meant.data);
	int failed = operator_file_config(&f, paths->config_dir, e) ||
		     operator_file_set(&f, call->arguments[0], call->arguments[1], e) ||
		     operator_file_whole(&f, call->arguments[0], call->arguments[1], e) ||
		     try_and_save(&f, paths, e);
	operator_file_done(&f);
	return failed ? -1 : 0;
}

static int run(const struct call *call)
{
	struct arena arena;
	struct config_paths paths = {0};
	struct err e = ERR_NONE;
	arena_init(&arena);
	int failed = config_paths_init(&paths, &arena, &e) || set(call, &paths, &e);
	arena_done(&arena);
	return failed ? verb_fail(EXIT_REFUSED, &e) : EXIT_OK;
}

const struct verb verb_config_set = {.path = "config set",
	.summary = "change one setting in the operator's own file",
	.arguments = "KEY VALUE",
	.min_arguments = 2,
	.max_arguments = 2,
	.acts = true,
	.details = "VALUE is YAML: yes, 20, [/srv/data]. The rest of the file, comments too, "
		   "stays as it is; a change that would not be valid is refused.",
	.run = run};
