/*
 * A bundle and the machine in it, as verbs open them.
 */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H
#include "bundle/bundle.h"
#include "machine/machine.h"

struct loaded {
	struct bundle *bundle;
	struct doc doc;
	bool has_doc;
	struct machine *machine; /* NULL: findings hold an error */
};

/* Opens and checks everything. -1: there is no bundle at `path`; otherwise what is wrong is among
 * the findings, and loaded_done is needed. */
int loaded_open(struct loaded *l, const char *path, struct findings *f, struct err *e);
void loaded_done(struct loaded *l);

/* For verbs that cannot go on with errors: prints the findings on stderr; 0 when the machine may
 * run, else -1. */
int loaded_usable(const struct loaded *l, struct findings *f);
#endif
