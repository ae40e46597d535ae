/*
 * The place: where the instances of a workspace live, outside of it.
 */
#ifndef RUN_PLACE_H
#define RUN_PLACE_H
#include "base/err.h"

/* All are heap, absolute. */
struct place {
	char *state_dir;
	char *repo_dir; /* <state_dir>/<repo-id>: the repository's configuration, machines/ */
	char *workspace;
};

/* A readable slug and a hash of the real path of the directory that holds the nearest enclosing
 * `.git`, else of `workspace` itself. Heap; NULL with the reason. */
char *place_repo_id(const char *workspace, struct err *e);
/* `workspace`: the directory the run is for. `state_dir`: the effective agent6.state_dir. Creates
 * nothing. Refused: a state directory inside the workspace, links followed. */
int place_find(const char *workspace, const char *state_dir, struct place *out, struct err *e);
void place_done(struct place *p);
#endif
