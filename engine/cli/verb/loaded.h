/*
 * A bundle and the machine in it, as verbs open them.
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
	struct machine *draft;         /* what could be read of it; NULL: nothing */
	const struct machine *machine; /* the same; NULL: findings hold an error */
};

/* Opens and checks everything. -1: there is no bundle at `path`; otherwise what is wrong is among
 * the findings, and loaded_done is needed. */
int loaded_open(struct loaded *loaded, const char *path, struct findings *findings, struct err *e);
void loaded_done(struct loaded *loaded);

/* Appends the documents whose lines findings may show to `docs` and returns the new count. */
size_t loaded_docs(const struct loaded *loaded, const struct doc ***docs, size_t count);

/* For verbs that cannot go on with errors: prints the findings on stderr; 0 when the machine may
 * run, else -1. */
int loaded_usable(const struct loaded *loaded, struct findings *findings);
/* All of it: opens, prints what is wrong, calls `use` with a machine that may run, and closes.
 * Returns what `use` does, an exit code, or EXIT_REFUSED. */
int loaded_with(const char *path, int (*use)(void *ctx, const struct loaded *l), void *ctx);
#endif
