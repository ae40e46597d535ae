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
	AUTO_FREE char *repo_id = statedir_repo_id(cwd, e);
	if (!repo_id)
		return -1;
	s->paths.repo_id = arena_copy(&s->arena, repo_id, strlen(repo_id));
	const char *workspace = arena_copy(&s->arena, cwd, strlen(cwd));
	s->paths.workspace = starts ? workspace : NULL;
	s->paths.file = call_value(c, "config");
	s->config = config_load(&s->paths, &s->findings);
	s->paths.workspace = workspace;
	return 0;
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

static int open_for(struct setup *s, const struct call *c, bool starts)
{
	struct err e = ERR_NONE;
	if (load(s, c, starts))
		return -1;
	int failed = s->findings.errors ? -1 : 0;
	if (failed)
		setup_tell(s);
	if (!failed && check_utf8(s->config->state_dir, "state directory", &e))
		failed = -verb_fail(EXIT_REFUSED, &e);
	if (!failed && starts &&
		statedir_find(s->paths.workspace, s->config->state_dir, &s->statedir, &e))
		failed = -verb_fail(EXIT_REFUSED, &e);
	if (failed)
		setup_done(s);
	return failed ? -1 : 0;
}

int setup_open(struct setup *s, const struct call *c)
{
	return open_for(s, c, true);
}

int setup_read(struct setup *s, const struct call *c)
{
	return open_for(s, c, false);
}

int setup_load(struct setup *s, const struct call *c)
{
	return load(s, c, true);
}

void setup_done(struct setup *s)
{
	statedir_done(&s->statedir);
	config_free(s->config);
	findings_done(&s->findings);
	arena_done(&s->arena);
	*s = (struct setup){0};
}
