/*
 * The repository that a workspace belongs to. It decides which settings apply and where the
 * instances lie, so nothing that a run leaves in the workspace may change it.
 */
#ifndef INSTANCE_REPOSITORY_H
#define INSTANCE_REPOSITORY_H
#include "base/err.h"
#include <stdbool.h>

/* Heap strings; each may be NULL. */
struct repository {
	char *id;  /* names its directory below the state directory */
	char *top; /* the directory that holds the nearest enclosing `.git`; else the workspace */
	/* An unfinished instance that began here under `top` and keeps it as the repository. */
	char *holder;
	char *passed;   /* with a holder: the directory that would be nearest now */
	char *around;   /* without settings of its own: a repository around `top` that has some */
	char *settings; /* the settings file of `around` */
};

/* Finds the repository of the directory `workspace`. An instance that began in this very workspace,
 * and could go on, keeps the workspace in its repository, whatever `.git` has come or gone since.
 * `state_dir`: the effective agent6.state_dir; NULL: look for no instances and no settings. */
int repository_find(
	const char *workspace, const char *state_dir, struct repository *out, struct err *e);
void repository_done(struct repository *repository);
#endif
