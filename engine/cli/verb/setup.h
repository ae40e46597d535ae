/*
 * The surroundings of this invocation: the workspace, the operator's configuration, the state
 * directory.
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
	struct repository repository; /* fixed before anything runs */
	struct statedir statedir;
	struct err lost; /* why there is no repository */
};

/* Finds everything for the working directory; honours `--config FILE` if the verb has it. Prints
 * errors. -1: the verb ends with EXIT_REFUSED. */
int setup_open(struct setup *setup, const struct call *call);
/* Does the same for a verb that starts nothing and only reaches instances, so that a broken
 * configuration does not keep anybody from stopping one. A line tells about it, and then only
 * `statedir` may be used. */
int setup_look(struct setup *setup, const struct call *call);
/* Does the same for a verb that reads no instance. The working directory is then no workspace, and
 * the state directory may lie below it, as in a home directory. `statedir` is left out. */
int setup_read(struct setup *setup, const struct call *call);
/* Loads the configuration with its findings, which are not printed or judged. */
int setup_load(struct setup *setup, const struct call *call);
void setup_done(struct setup *setup);
/* Prints the findings about the configuration: errors, or else warnings and notes. */
void setup_tell(struct setup *setup);
/* Tells which path commands find the workspace by, if the shell came by another. */
void setup_tell_link(const struct setup *setup);
#endif
