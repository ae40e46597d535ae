/*
 * The repository that a workspace belongs to. Its name says whose settings apply there and where
 * its instances lie, so nothing that a run leaves in the workspace may change it.
 */
#ifndef INSTANCE_REPOSITORY_H
#define INSTANCE_REPOSITORY_H
#include "base/err.h"
#include <stdbool.h>

/* Heap strings; NULL: not so. */
struct repository {
	char *id;  /* names its directory below the state directory */
	char *top; /* the directory that holds the nearest enclosing `.git`; else the workspace */
	char *holder; /* an unfinished instance that began here as one of `top`, and keeps it so */
	char *passed; /* what would be nearest now, where it has a holder */
	char *around; /* a repository that holds `top` and has settings, where `top` has none */
	char *settings; /* the file of these */
};

/* The name of the repository at `top`, a real path: a readable slug and a hash. Heap; NULL: out of
 * memory. */
char *repository_id(const char *top, struct err *e);
/* Finds it for the directory `workspace`. An instance that began in this very workspace, and could
 * go on, keeps the workspace in the repository that it began in, whatever `.git` has come or gone
 * since. `state_dir`: the effective agent6.state_dir; NULL: no instance and no settings are looked
 * for. */
int repository_find(
	const char *workspace, const char *state_dir, struct repository *out, struct err *e);
void repository_done(struct repository *repository);
#endif
