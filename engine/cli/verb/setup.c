#include "cli/verb/setup.h"

#include "base/io.h"
#include "base/utf8.h"
#include "report/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void setup_tell(struct setup *setup)
{
	const struct doc *docs[LAYER_COUNT];
	text_findings(&setup->findings, docs, config_docs(setup->config, docs));
}

/* Tells about a link: the shell shows the path by which it came, commands the directory's own. */
void setup_tell_link(const struct setup *setup)
{
	const char *named = getenv("PWD");
	struct stat here, there;
	if (!named || *named != '/' || !strcmp(named, setup->workspace) || stat(named, &there) ||
		stat(".", &here) || !io_is_same(&there, &here))
		return;
	text_complain("the workspace is %s, and commands find it by this path alone; %s leads "
		      "there through a link, which they do not have",
		setup->workspace, named);
}

/* Checks that a path can be written in JSON, as in jails and journals. */
static int check_utf8(const char *path, const char *what, struct err *e)
{
	size_t len = strlen(path);
	return utf8_prefix(path, len) == len
		       ? 0
		       : err_set(e,
				 "the path of the %s is not valid UTF-8: rename it or use another",
				 what);
}

static const char *find_repository(void *ctx, const char *state_dir)
{
	struct setup *s = ctx;
	repository_find(s->workspace, state_dir, &s->repository, &s->lost);
	return s->repository.id;
}

/* Tells if other settings might be expected to apply. */
static void tell_repository(struct setup *setup)
{
	const struct repository *r = &setup->repository;
	struct doc file = {.file = r->settings ? r->settings : r->top};
	struct finding *it;
	if (r->holder) {
		it = finding_add(&setup->findings, RULE_CONFIG_HELD, &file, NULL,
			"%s was a part of %s when instance %s began in it, and stays one: %s is "
			"not the repository whose settings and instances count here",
			setup->workspace, r->top, r->holder, r->passed);
		finding_help(&setup->findings, it,
			"let instance %s end, or remove it (agent6 machine prune --unfinished %s)",
			r->holder, r->holder);
	}
	if (r->around) {
		it = finding_add(&setup->findings, RULE_CONFIG_NESTED, &file, NULL,
			"these settings of the repository %s do not apply in %s, which is a "
			"repository of its own inside it",
			r->around, r->top);
		finding_help(&setup->findings, it,
			"copy the file to %s/%s, start in %s, or remove %s/.git if nobody means it "
			"to be there",
			setup->config->state_dir, r->id, r->around, r->top);
	}
}

/* Finds everything. `starts`: something may run, so the working directory is a workspace. */
static int find_all(struct setup *setup, const struct call *call, bool starts, struct err *e)
{
	char cwd[PATH_MAX];
	if (!getcwd(cwd, sizeof(cwd)))
		return err_errno(e, "cannot find the working directory");
	if (check_utf8(cwd, "working directory", e))
		return -1;
	if (config_paths_init(&setup->paths, &setup->arena, e))
		return -1;
	setup->workspace = arena_copy(&setup->arena, cwd, strlen(cwd));
	setup->paths.workspace = starts ? setup->workspace : NULL;
	setup->paths.file = call_value(call, "config");
	setup->paths.find_repo = find_repository;
	setup->paths.repo_ctx = setup;
	setup->config = config_load(&setup->paths, &setup->findings);
	setup->paths.workspace = setup->workspace;
	setup->paths.repo_id = setup->repository.id;
	tell_repository(setup);
	return *setup->lost.text ? err_set(e, "%s", setup->lost.text) : 0;
}

static int load(struct setup *setup, const struct call *call, bool starts)
{
	struct err e = ERR_NONE;
	*setup = (struct setup){0};
	arena_init(&setup->arena);
	findings_init(&setup->findings);
	if (!find_all(setup, call, starts, &e))
		return 0;
	verb_fail(EXIT_REFUSED, &e);
	setup_done(setup);
	return -1;
}

static int find_state(struct setup *setup)
{
	struct err e = ERR_NONE;
	if (check_utf8(setup->config->state_dir, "state directory", &e) ||
		statedir_find(setup->workspace, setup->config->state_dir, setup->repository.id,
			&setup->statedir, &e))
		return -verb_fail(EXIT_REFUSED, &e);
	return 0;
}

/* Loads the configuration. Errors are printed, and end the verb. */
static int load_whole(struct setup *setup, const struct call *call, bool starts)
{
	if (load(setup, call, starts))
		return -1;
	if (!setup->findings.errors)
		return 0;
	setup_tell(setup);
	setup_done(setup);
	return -1;
}

static int open_state(struct setup *setup)
{
	if (!find_state(setup))
		return 0;
	setup_done(setup);
	return -1;
}

int setup_open(struct setup *setup, const struct call *call)
{
	return load_whole(setup, call, true) || open_state(setup) ? -1 : 0;
}

/* Takes the state directory from a broken configuration, and finds the repository for it. */
static int salvage(struct setup *setup)
{
	struct err e = ERR_NONE;
	config_salvage_state_dir(setup->config);
	text_complain("the configuration has errors, which `agent6 check config` shows; instances "
		      "are looked for in %s",
		setup->config->state_dir ? setup->config->state_dir : "no directory");
	repository_done(&setup->repository);
	setup->repository = (struct repository){0};
	if (!repository_find(setup->workspace, setup->config->state_dir, &setup->repository, &e))
		return 0;
	verb_fail(EXIT_REFUSED, &e);
	setup_done(setup);
	return -1;
}

int setup_look(struct setup *setup, const struct call *call)
{
	if (load(setup, call, true) || (setup->findings.errors && salvage(setup)))
		return -1;
	return open_state(setup);
}

int setup_read(struct setup *setup, const struct call *call)
{
	struct err e = ERR_NONE;
	if (load_whole(setup, call, false))
		return -1;
	if (!check_utf8(setup->config->state_dir, "state directory", &e))
		return 0;
	verb_fail(EXIT_REFUSED, &e);
	setup_done(setup);
	return -1;
}

int setup_load(struct setup *setup, const struct call *call)
{
	return load(setup, call, true);
}

void setup_done(struct setup *setup)
{
	statedir_done(&setup->statedir);
	repository_done(&setup->repository);
	config_free(setup->config);
	findings_done(&setup->findings);
	arena_done(&setup->arena);
	*setup = (struct setup){0};
}
