#include "cli/setup.h"

#include "base/utf8.h"
#include "instance/recover.h"
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

/* What the journal tells about is judged by the bundle it was begun with and no other. */
static int check_copy(const struct resting *r, const char *id, struct err *e)
{
	const char *found = r->loaded.bundle->digest;
	char begun_with[POSITION_DIGEST_BYTES];
	bool begun;
	if (recover_begun(&r->instance, &begun, begun_with, e))
		return -1;
	if (!begun || !strcmp(begun_with, found))
		return 0;
	return err_set(e,
		"the stored bundle of instance %s was changed: its digest is %s, and the journal "
		"began with %s",
		id, found, begun_with);
}

/* The machine an instance runs is the one in its own copy. */
static int open_machine(struct resting *r, const char *id)
{
	struct err e = ERR_NONE;
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/bundle", r->instance.path) < 0)
		return verb_refuse("out of memory");
	if (loaded_open(&r->loaded, path, &r->findings, &e)) {
		err_wrap(&e, "the bundle of instance %s", id);
		return verb_fail(EXIT_DAMAGED, &e);
	}
	if (loaded_usable(&r->loaded, &r->findings))
		return EXIT_DAMAGED;
	return check_copy(r, id, &e) ? verb_fail(EXIT_DAMAGED, &e) : EXIT_OK;
}

/* A start that was refused leaves a directory and nothing to look at. */
static int check_begun(const struct instance *i)
{
	struct err e = ERR_NONE;
	if (!faccessat(i->dir_fd, "journal.jsonl", F_OK, AT_SYMLINK_NOFOLLOW))
		return EXIT_OK;
	if (recover_whole(i, -1, 0, &e))
		return verb_fail(EXIT_DAMAGED, &e);
	return verb_refuse("instance %s has not begun: nothing has run yet", i->id);
}

int resting_open(struct resting *r, const struct call *c, bool with_machine)
{
	const char *id = c->arguments[0];
	struct err e = ERR_NONE;
	*r = (struct resting){.instance = INSTANCE_NONE};
	findings_init(&r->findings);
	int code = EXIT_OK;
	if (setup_open(&r->setup, c))
		code = EXIT_REFUSED;
	else if (instance_open(&r->setup.statedir, id, &r->instance, &e))
		code = verb_fail(EXIT_REFUSED, &e);
	else
		code = check_begun(&r->instance);
	if (!code && with_machine)
		code = open_machine(r, id);
	if (code)
		resting_done(r);
	return code;
}

void resting_done(struct resting *r)
{
	loaded_done(&r->loaded);
	instance_done(&r->instance);
	setup_done(&r->setup);
	findings_done(&r->findings);
}

int resting_with(const struct call *c, bool with_machine, resting_use *use)
{
	struct resting r;
	int code = resting_open(&r, c, with_machine);
	if (code)
		return code;
	code = use(&r, c);
	resting_done(&r);
	return code;
}

int resting_tell(const struct call *c, resting_fn *tell)
{
	struct resting r;
	struct err e = ERR_NONE;
	int code = resting_open(&r, c, false);
	if (code)
		return code;
	code = tell(&r, c, &e) ? verb_fail(EXIT_REFUSED, &e) : EXIT_OK;
	resting_done(&r);
	return code;
}
