/*
 * Where this invocation works: the workspace, the operator's configuration, the state directory.
 */
#ifndef CLI_VERB_SETUP_H
#define CLI_VERB_SETUP_H
#include "cli/verb/verb.h"
#include "config/config.h"
#include "instance/instance.h"
#include "instance/repository.h"

struct setup {
	struct arena arena;
	struct findings findings; /* about the configuration */
	struct config *config;
	struct config_paths paths;
	const char *workspace;        /* the working directory */
	struct repository repository; /* fixed before anything runs, and looked for once */
	struct statedir statedir;
	struct err lost; /* why there is no repository */
};

/* Finds all of it for the working directory; `--config FILE` is honoured where the verb has it.
 * Errors are printed; -1: the verb ends with EXIT_REFUSED. */
int setup_open(struct setup *setup, const struct call *call);
/* The same for a verb that starts nothing and only reaches instances: a broken configuration keeps
 * nobody from stopping one. It is said in a line; of such a configuration only `statedir` may be
 * used. */
int setup_look(struct setup *setup, const struct call *call);
/* The same for a verb that only reads, and no instance: where it is called is no workspace, and the
 * state directory may lie below, as it does in a home directory. `statedir` is left out. */
int setup_read(struct setup *setup, const struct call *call);
/* Its first half: the configuration with its findings, not yet printed or judged. */
int setup_load(struct setup *setup, const struct call *call);
void setup_done(struct setup *setup);
/* Prints the findings about the configuration; where nothing is refused, warnings and notes. */
void setup_tell(struct setup *setup);
/* Says which path commands find the workspace by, where the shell came another way. */
void setup_tell_link(const struct setup *setup);
#endif
