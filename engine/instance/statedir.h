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

/* `workspace`: the directory the run is for. `state_dir`: the effective agent6.state_dir.
 * `repo_id`: of the repository that it belongs to, see repository.h. Creates nothing. Refused: as
 * config_state_dir does. */
int statedir_find(const char *workspace, const char *state_dir, const char *repo_id,
	struct statedir *out, struct err *e);
void statedir_done(struct statedir *statedir);
#endif
