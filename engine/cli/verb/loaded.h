/*
 * A bundle and the machine in it, opened for a verb.
 */
#ifndef CLI_VERB_LOADED_H
#define CLI_VERB_LOADED_H
#include "bundle/bundle.h"
#include "machine/machine.h"

struct loaded {
	struct bundle *bundle;
	struct doc doc;
	bool has_doc;
	struct prompt_docs prompts;
	struct machine *draft;         /* the readable part of the machine; NULL: nothing */
	const struct machine *machine; /* the same; NULL: there are errors */
};

/* Opens and checks everything. Returns -1 if there is no bundle at `path`. Otherwise problems are
 * among the findings, and loaded_done must be called. */
int loaded_open(struct loaded *loaded, const char *path, struct findings *findings, struct err *e);
void loaded_done(struct loaded *loaded);

/* Appends the documents whose lines findings may show to `docs` and returns the new count. */
size_t loaded_docs(const struct loaded *loaded, const struct doc ***docs, size_t count);

/* Prints the findings on stderr, for verbs that cannot continue with errors. Returns 0 if the
 * machine may run, else -1. */
int loaded_usable(const struct loaded *loaded, struct findings *findings);
/* Opens, prints problems, calls `use` with a machine that may run, and closes. Returns the exit
 * code of `use`, or EXIT_REFUSED. */
int loaded_with(const char *path, int (*use)(void *ctx, const struct loaded *l), void *ctx);
#endif
