/*
 * An instance: the directory that holds one run of one machine, and its lock.
 *
 * Directories are 0700, files 0600. The runner holds an exclusive lock on the file `lock` while it
 * runs, and one on the directory if the file system supports that. Readers (status, replay, verify)
 * take none.
 */
#ifndef INSTANCE_INSTANCE_H
#define INSTANCE_INSTANCE_H
#include "instance/statedir.h"

#include <stdbool.h>
#include <sys/types.h>

struct instance {
	char *id;
	char *path;  /* absolute */
	int dir_fd;  /* the directory; owned */
	int lock_fd; /* -1: opened for reading */
	bool made;   /* the directory was made when the instance was locked */
};

#define INSTANCE_NONE                                                                              \
	(struct instance)                                                                          \
	{                                                                                          \
		.dir_fd = -1, .lock_fd = -1                                                        \
	}

/* Opens its journal for reading. e->number ENOENT: it has none. */
int instance_journal(const struct instance *instance, struct err *e);

/* Checks a machine's name or --id: ^[a-z][a-z0-9_-]*$, at most 64 bytes. */
bool instance_id_valid(const char *id);
/* Opens <repo_dir>/machines/<id> for reading. e->number ENOENT: there is none. */
int instance_open(
	const struct statedir *statedir, const char *id, struct instance *out, struct err *e);
/* Opens any directory as an instance, such as a copy or one of another repository. The directory's
 * name is the id. */
int instance_open_at(const char *path, struct instance *out, struct err *e);
/* Creates missing directories (durably) and takes the lock. e->number EWOULDBLOCK: another runner
 * holds it; the message has its pid and host. */
int instance_lock(
	const struct statedir *statedir, const char *id, struct instance *out, struct err *e);
void instance_done(struct instance *instance);
/* Reports whether its path still leads to it: it may have been removed, and another one made under
 * that name. */
bool instance_is_named(const struct instance *instance);
/* Checks that `name` in its directory is still the file open as `fd`. If somebody has removed or
 * replaced it, this run writes to a file that belongs to another run, or to none. */
int instance_holds(const struct instance *instance, const char *name, int fd, struct err *e);
/* Checks the same for its lock, and for the directory itself: others must find it at its path. */
int instance_kept(const struct instance *instance, struct err *e);
/* Returns -1 with a message: what was done to `name` ("": the directory), and that the run is
 * over. */
int instance_lost(
	const struct instance *instance, const char *name, const char *how, struct err *e);

/* Reports whether nothing is left to run: it has ended, or never began. */
bool instance_ended(const struct instance *instance);
/* Removes an instance that has ended, or never began, with everything in it. Refuses while somebody
 * runs it, and, unless `unfinished`, while it could still go on. It vanishes whole or not at
 * all. */
int instance_remove(
	const struct statedir *statedir, const char *id, bool unfinished, struct err *e);
/* Does the same for an instance that the caller has locked, whatever it holds. Releases the
 * lock. */
int instance_discard(const struct statedir *statedir, struct instance *instance, struct err *e);
/* Removes the remains of removals that were interrupted; no id leads to these any more. */
int instance_sweep(const struct statedir *statedir, struct err *e);

/* The process that runs an instance; pid 0: nobody does. */
struct holder {
	pid_t pid;
	char host[65];
	char space[65]; /* identifies the process's pid namespace; "": unknown */
};
int instance_holder(const struct instance *instance, struct holder *out, struct err *e);

/* Calls `each` for every instance id, in name order. */
int instance_list(const struct statedir *statedir, int (*each)(void *ctx, const char *id),
	void *ctx, struct err *e);
#endif
