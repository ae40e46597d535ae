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

/* Where instances of this workspace live. All three are heap, absolute and real paths. */
struct place {
	char *state_home; /* AGENT6_STATE_HOME, else `configured`, else $XDG_STATE_HOME/agent6 */
	char *repo_dir;   /* <state_home>/<repo-id>: the repository's configuration, machines/ */
	char *workspace;
};

/* `workspace`: the directory the run is for. `configured`: agent6.state_dir or NULL. Creates
 * nothing. Refused: a state base inside the workspace, a relative one, none to be found. */
int place_find(const char *workspace, const char *configured, struct place *out, struct err *e);
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

/* A machine's name or --id: ^[a-z][a-z0-9_-]*$, at most 64 bytes. */
bool instance_id_valid(const char *id);
/* Opens <repo_dir>/machines/<id> for reading. e->number ENOENT: there is none. */
int instance_open(const struct place *p, const char *id, struct instance *out, struct err *e);
/* Creates what is missing (durably) and takes the lock. e->number EWOULDBLOCK: another runner holds
 * it, named with its pid and host. */
int instance_lock(const struct place *p, const char *id, struct instance *out, struct err *e);
/* The same for a directory that is the instance itself (rehearse --dir). */
int instance_lock_at(const char *path, const char *id, struct instance *out, struct err *e);
void instance_done(struct instance *i);

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
