/*
 * An existing instance, opened for reading, with the machine from its own copy of the bundle if
 * wanted.
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

/* Opens the instance that the verb's first argument names. For verbs that only read, a path may
 * name one anywhere. Prints problems. Returns the exit code, EXIT_OK if it is open. */
int opened_instance_open(
	struct opened_instance *opened, const struct call *call, bool with_machine);
void opened_instance_done(struct opened_instance *opened);
/* Opens it, calls `use`, closes. Returns the exit code of `use`, or that of the failed opening. */
typedef int opened_instance_use(const struct opened_instance *opened, const struct call *call);
int opened_instance_with(const struct call *call, bool with_machine, opened_instance_use *use);
/* Opens it and calls `tell`, which gives the instance a message; if that fails, prints the reason.
 * Returns the exit code. */
typedef int opened_instance_fn(
	const struct opened_instance *opened, const struct call *call, struct err *e);
int opened_instance_tell(const struct call *call, opened_instance_fn *tell);
#endif
