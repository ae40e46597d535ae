/*
 * The state directory: where the instances of a workspace live, outside of it.
 */
#ifndef INSTANCE_STATEDIR_H
#define INSTANCE_STATEDIR_H
#include "base/err.h"

/* All are heap, absolute. */
struct statedir {
	char *root;
	char *repo; /* <root>/<repo-id>: the repository's configuration, machines/ */
	char *workspace;
};

/* A readable slug and a hash of the real path of the directory that holds the nearest enclosing
 * `.git`, else of `workspace` itself. Heap; NULL with the reason. */
char *statedir_repo_id(const char *workspace, struct err *e);
/* `workspace`: the directory the run is for. `state_dir`: the effective agent6.state_dir. Creates
 * nothing. Refused: as config_state_dir does. */
int statedir_find(
	const char *workspace, const char *state_dir, struct statedir *out, struct err *e);
void statedir_done(struct statedir *s);
#endif
