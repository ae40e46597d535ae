/*
 * The state directory: holds the instances of a workspace, outside of it.
 */
#ifndef INSTANCE_STATEDIR_H
#define INSTANCE_STATEDIR_H
#include "base/err.h"

/* Absolute paths, heap. */
struct statedir {
	char *root;
	char *repo; /* <root>/<repo-id>: the repository's configuration, machines/ */
	char *workspace;
};

/* Finds the state directory. `workspace`: the directory that the run is for. `state_dir`: the
 * effective agent6.state_dir. `repo_id`: that of its repository, see repository.h. Creates nothing.
 * Refuses what config_state_dir refuses. */
int statedir_find(const char *workspace, const char *state_dir, const char *repo_id,
	struct statedir *out, struct err *e);
void statedir_done(struct statedir *statedir);
#endif
