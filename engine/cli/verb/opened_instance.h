/*
 * An existing instance, opened for reading, and, where asked for, the machine from its own copy of
 * the bundle.
 */
#ifndef CLI_VERB_OPENED_INSTANCE_H
#define CLI_VERB_OPENED_INSTANCE_H
#include "cli/verb/loaded.h"
#include "cli/verb/setup.h"

struct opened_instance {
	struct setup setup;
	struct instance instance;
	struct findings findings;
	struct loaded loaded;
};

/* Opens the instance that the verb's first argument names; a path, as far as the verb only looks,
 * leads to one that lies anywhere. Problems are printed; the exit code,
 * EXIT_OK when it is open. */
int opened_instance_open(
	struct opened_instance *opened, const struct call *call, bool with_machine);
void opened_instance_done(struct opened_instance *opened);
/* For a verb that does one thing with it: opens it, calls, closes. Returns what `use` does, an exit
 * code, or why it cannot be opened. */
typedef int opened_instance_use(const struct opened_instance *opened, const struct call *call);
int opened_instance_with(const struct call *call, bool with_machine, opened_instance_use *use);
/* For a verb that tells an instance something: opens it, calls, and refuses with the reason where
 * that fails. The exit code. */
typedef int opened_instance_fn(
	const struct opened_instance *opened, const struct call *call, struct err *e);
int opened_instance_tell(const struct call *call, opened_instance_fn *tell);
#endif
