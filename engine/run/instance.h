/*
 * An instance: the directory that holds one run of one machine (run.md 2), and its lock.
 *
 * Directories are 0700, files 0600. Whoever runs the instance holds an exclusive lock on `lock` for
 * the instance's life; readers (status, replay, verify) take none.
 */
#ifndef RUN_INSTANCE_H
#define RUN_INSTANCE_H
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

/* Where instances of this workspace live. All are heap, absolute. */
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

struct instance {
	char *id;
	char *path;  /* absolute */
	int dir_fd;  /* the directory; owned */
	int lock_fd; /* -1: opened for reading */
};

#define INSTANCE_NONE                                                                              \
	(struct instance)                                                                          \
	{                                                                                          \
		.dir_fd = -1, .lock_fd = -1                                                        \
	}

/* Its journal for reading. e->number ENOENT: it has none. */
int instance_journal(const struct instance *i, struct err *e);

/* A machine's name or --id: ^[a-z][a-z0-9_-]*$, at most 64 bytes. */
bool instance_id_valid(const char *id);
/* Opens <repo_dir>/machines/<id> for reading. e->number ENOENT: there is none. */
int instance_open(const struct place *p, const char *id, struct instance *out, struct err *e);
/* Creates what is missing (durably) and takes the lock. e->number EWOULDBLOCK: another runner holds
 * it, named with its pid and host. */
int instance_lock(const struct place *p, const char *id, struct instance *out, struct err *e);
void instance_done(struct instance *i);
/* Whether `name` in its directory is still the file that `fd` is of: who removed or replaced it has
 * another run, or nothing, where this one writes. */
int instance_holds(const struct instance *i, const char *name, int fd, struct err *e);

/* Removes an instance that has ended, or never began, with everything in it. Refused while somebody
 * runs it and, but for `unfinished`, while it could still go on. It vanishes whole or not at all.
 */
int instance_remove(const struct place *p, const char *id, bool unfinished, struct err *e);

/* Who runs it now: pid 0 when nobody does. */
struct holder {
	pid_t pid;
	char host[65];
};
int instance_holder(const struct instance *i, struct holder *out, struct err *e);

/* Calls `each` for every instance id of the place, in name order. */
int instance_list(
	const struct place *p, int (*each)(void *ctx, const char *id), void *ctx, struct err *e);
#endif
