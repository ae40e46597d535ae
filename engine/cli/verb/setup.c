#include "cli/verb/setup.h"

#include "base/utf8.h"
#include "report/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void setup_tell(struct setup *s)
{
	const struct doc *docs[LAYER_COUNT];
	text_findings(&s->findings, docs, config_docs(s->config, docs));
}

/* Jails and journals name paths in JSON. */
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

/* Says where other settings might be expected to apply than those that do. */
static void tell_repository(struct setup *s)
{
	const struct repository *r = &s->repository;
	struct doc file = {.file = r->settings ? r->settings : r->top};
	struct finding *it;
	if (r->holder) {
		it = finding_add(&s->findings, RULE_CONFIG_HELD, &file, NULL,
			"%s was a part of %s when instance %s began in it, and stays one: %s is "
			"not the repository whose settings and instances count here",
			s->workspace, r->top, r->holder, r->passed);
		finding_help(&s->findings, it,
			"let instance %s end, or remove it (agent6 machine prune --unfinished %s)",
			r->holder, r->holder);
	}
	if (r->around) {
		it = finding_add(&s->findings, RULE_CONFIG_NESTED, &file, NULL,
			"these settings of the repository %s do not apply in %s, which is a "
			"repository of its own inside it",
			r->around, r->top);
		finding_help(&s->findings, it,
			"copy the file to %s/%s, start in %s, or remove %s/.git if nobody means it "
			"to be there",
			s->config->state_dir, r->id, r->around, r->top);
	}
}

/* `starts`: something may be run, so the working directory is a workspace. */
static int find_all(struct setup *s, const struct call *c, bool starts, struct err *e)
{
	char cwd[PATH_MAX];
	if (!getcwd(cwd, sizeof(cwd)))
		return err_errno(e, "cannot find the working directory");
	if (check_utf8(cwd, "working directory", e))
		return -1;
	if (config_paths_init(&s->paths, &s->arena, e))
		return -1;
	s->workspace = arena_copy(&s->arena, cwd, strlen(cwd));
	s->paths.workspace = starts ? s->workspace : NULL;
	s->paths.file = call_value(c, "config");
	s->paths.find_repo = find_repository;
	s->paths.repo_ctx = s;
	s->config = config_load(&s->paths, &s->findings);
	s->paths.workspace = s->workspace;
	s->paths.repo_id = s->repository.id;
	tell_repository(s);
	return *s->lost.text ? err_set(e, "%s", s->lost.text) : 0;
}

static int load(struct setup *s, const struct call *c, bool starts)
{
	struct err e = ERR_NONE;
	*s = (struct setup){0};
	arena_init(&s->arena);
	findings_init(&s->findings);
	if (!find_all(s, c, starts, &e))
		return 0;
	verb_fail(EXIT_REFUSED, &e);
	setup_done(s);
	return -1;
}

static int find_state(struct setup *s)
{
	struct err e = ERR_NONE;
	if (check_utf8(s->config->state_dir, "state directory", &e) ||
		statedir_find(
			s->workspace, s->config->state_dir, s->repository.id, &s->statedir, &e))
		return -verb_fail(EXIT_REFUSED, &e);
	return 0;
}

/* Errors in the configuration are printed, and end it. */
static int load_whole(struct setup *s, const struct call *c, bool starts)
{
	if (load(s, c, starts))
		return -1;
	if (!s->findings.errors)
		return 0;
	setup_tell(s);
	setup_done(s);
	return -1;
}

static int open_state(struct setup *s)
{
	if (!find_state(s))
		return 0;
	setup_done(s);
	return -1;
}

int setup_open(struct setup *s, const struct call *c)
{
	return load_whole(s, c, true) || open_state(s) ? -1 : 0;
}

/* The repository was looked for in the state directory that the whole configuration gave. */
static int salvage(struct setup *s)
{
	struct err e = ERR_NONE;
	config_salvage_state_dir(s->config);
	text_complain("the configuration has errors, which `agent6 check config` shows; instances "
		      "are looked for in %s",
		s->config->state_dir ? s->config->state_dir : "no directory");
	repository_done(&s->repository);
	s->repository = (struct repository){0};
	if (!repository_find(s->workspace, s->config->state_dir, &s->repository, &e))
		return 0;
	verb_fail(EXIT_REFUSED, &e);
	setup_done(s);
	return -1;
}

int setup_look(struct setup *s, const struct call *c)
{
	if (load(s, c, true) || (s->findings.errors && salvage(s)))
		return -1;
	return open_state(s);
}

int setup_read(struct setup *s, const struct call *c)
{
	struct err e = ERR_NONE;
	if (load_whole(s, c, false))
		return -1;
	if (!check_utf8(s->config->state_dir, "state directory", &e))
		return 0;
	verb_fail(EXIT_REFUSED, &e);
	setup_done(s);
	return -1;
}

int setup_load(struct setup *s, const struct call *c)
{
	return load(s, c, true);
}

void setup_done(struct setup *s)
{
	statedir_done(&s->statedir);
	repository_done(&s->repository);
	config_free(s->config);
	findings_done(&s->findings);
	arena_done(&s->arena);
	*s = (struct setup){0};
}
