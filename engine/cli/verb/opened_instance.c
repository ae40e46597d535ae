#include "cli/verb/opened_instance.h"

#include "instance/recover.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Checks the stored bundle: only the one that the instance began with can interpret its journal. */
static int check_copy(const struct opened_instance *opened, const char *id, struct err *e)
{
	const char *found = opened->loaded.bundle->digest;
	struct begun begun;
	if (recover_begun(&opened->instance, &begun, e))
		return -1;
	if (!begun.begun || !strcmp(begun.digest, found))
		return 0;
	return err_set(e,
		"the stored bundle of instance %s was changed: its digest is %s, and the journal "
		"began with %s",
		id, found, begun.digest);
}

/* Opens the machine from the instance's own copy. */
static int open_machine(struct opened_instance *opened, const char *id)
{
	struct err e = ERR_NONE;
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/bundle", opened->instance.path) < 0)
		return verb_refuse("out of memory");
	if (loaded_open(&opened->loaded, path, &opened->findings, &e)) {
		err_wrap(&e, "the bundle of instance %s", id);
		return verb_fail(EXIT_DAMAGED, &e);
	}
	if (loaded_usable(&opened->loaded, &opened->findings))
		return EXIT_DAMAGED;
	return check_copy(opened, id, &e) ? verb_fail(EXIT_DAMAGED, &e) : EXIT_OK;
}

/* Refuses an instance that never began: a refused start leaves only a directory. */
static int check_begun(const struct instance *instance)
{
	struct err e = ERR_NONE;
	if (!faccessat(instance->dir_fd, "journal.jsonl", F_OK, AT_SYMLINK_NOFOLLOW))
		return EXIT_OK;
	if (recover_whole(instance, -1, 0, &e)) {
		err_wrap(&e, "%s", instance->path);
		return verb_fail(EXIT_DAMAGED, &e);
	}
	return verb_refuse("instance %s has not begun: nothing has run yet", instance->id);
}

int opened_instance_open(struct opened_instance *opened, const struct call *call, bool with_machine)
{
	const char *id = call->arguments[0];
	struct err e = ERR_NONE;
	*opened = (struct opened_instance){.instance = INSTANCE_NONE};
	findings_init(&opened->findings);
	int code = EXIT_OK;
	bool path = strchr(id, '/') && !call->verb->acts;
	if (setup_look(&opened->setup, call))
		code = EXIT_REFUSED;
	else if (path ? instance_open_at(id, &opened->instance, &e)
		      : instance_open(&opened->setup.statedir, id, &opened->instance, &e))
		code = verb_fail(EXIT_REFUSED, &e);
	else
		code = check_begun(&opened->instance);
	if (!code && with_machine)
		code = open_machine(opened, id);
	if (code)
		opened_instance_done(opened);
	return code;
}

void opened_instance_done(struct opened_instance *opened)
{
	loaded_done(&opened->loaded);
	instance_done(&opened->instance);
	setup_done(&opened->setup);
	findings_done(&opened->findings);
}

int opened_instance_with(const struct call *call, bool with_machine, opened_instance_use *use)
{
	struct opened_instance r;
	int code = opened_instance_open(&r, call, with_machine);
	if (code)
		return code;
	code = use(&r, call);
	opened_instance_done(&r);
	return code;
}

int opened_instance_tell(const struct call *call, opened_instance_fn *tell)
{
	struct opened_instance r;
	struct err e = ERR_NONE;
	int code = opened_instance_open(&r, call, false);
	if (code)
		return code;
	code = tell(&r, call, &e) ? verb_fail(EXIT_REFUSED, &e) : EXIT_OK;
	opened_instance_done(&r);
	return code;
}
