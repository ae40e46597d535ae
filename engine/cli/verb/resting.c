#include "cli/verb/resting.h"

#include "instance/recover.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* What the journal tells about is judged by the bundle it was begun with and no other. */
static int check_copy(const struct resting *r, const char *id, struct err *e)
{
	const char *found = r->loaded.bundle->digest;
	struct begun begun;
	if (recover_begun(&r->instance, &begun, e))
		return -1;
	if (!begun.begun || !strcmp(begun.digest, found))
		return 0;
	return err_set(e,
		"the stored bundle of instance %s was changed: its digest is %s, and the journal "
		"began with %s",
		id, found, begun.digest);
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
	if (recover_whole(i, -1, 0, &e)) {
		err_wrap(&e, "%s", i->path);
		return verb_fail(EXIT_DAMAGED, &e);
	}
	return verb_refuse("instance %s has not begun: nothing has run yet", i->id);
}

int resting_open(struct resting *r, const struct call *c, bool with_machine)
{
	const char *id = c->arguments[0];
	struct err e = ERR_NONE;
	*r = (struct resting){.instance = INSTANCE_NONE};
	findings_init(&r->findings);
	int code = EXIT_OK;
	bool path = strchr(id, '/') && !c->verb->acts;
	if (setup_look(&r->setup, c))
		code = EXIT_REFUSED;
	else if (path ? instance_open_at(id, &r->instance, &e)
		      : instance_open(&r->setup.statedir, id, &r->instance, &e))
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
