/*
 * An existing instance, opened for reading, and, where asked for, the machine from its own copy of
 * the bundle.
 */
#ifndef CLI_VERB_RESTING_H
#define CLI_VERB_RESTING_H
#include "cli/verb/loaded.h"
#include "cli/verb/setup.h"

struct resting {
	struct setup setup;
	struct instance instance;
	struct findings findings;
	struct loaded loaded;
};

/* Opens the instance that the verb's first argument names; a path, as far as the verb only looks,
 * leads to one that lies anywhere. Problems are printed; the exit code,
 * EXIT_OK when it is open. */
int resting_open(struct resting *r, const struct call *c, bool with_machine);
void resting_done(struct resting *r);
/* For a verb that does one thing with it: opens it, calls, closes. Returns what `use` does, an exit
 * code, or why it cannot be opened. */
typedef int resting_use(const struct resting *r, const struct call *c);
int resting_with(const struct call *c, bool with_machine, resting_use *use);
/* For a verb that tells an instance something: opens it, calls, and refuses with the reason where
 * that fails. The exit code. */
typedef int resting_fn(const struct resting *r, const struct call *c, struct err *e);
int resting_tell(const struct call *c, resting_fn *tell);
#endif
