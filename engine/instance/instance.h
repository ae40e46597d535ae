/*
 * An instance: the directory that holds one run of one machine, and its lock.
 *
 * Directories are 0700, files 0600. Whoever runs the instance holds an exclusive lock on the file
 * `lock` as long as it runs, and one on the directory where the file system has such; readers
 * (status, replay, verify) take none.
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
	bool made;   /* locking it has made its directory */
};

#define INSTANCE_NONE                                                                              \
	(struct instance)                                                                          \
	{                                                                                          \
		.dir_fd = -1, .lock_fd = -1                                                        \
	}

/* Its journal for reading. e->number ENOENT: it has none. */
int instance_journal(const struct instance *instance, struct err *e);

/* A machine's name or --id: ^[a-z][a-z0-9_-]*$, at most 64 bytes. */
bool instance_id_valid(const char *id);
/* Opens <repo_dir>/machines/<id> for reading. e->number ENOENT: there is none. */
int instance_open(
	const struct statedir *statedir, const char *id, struct instance *out, struct err *e);
/* The same of a directory, wherever it lies: a copy, or another repository's. Its name is the id.
 */
int instance_open_at(const char *path, struct instance *out, struct err *e);
/* Creates what is missing (durably) and takes the lock. e->number EWOULDBLOCK: another runner holds
 * it, named with its pid and host. */
int instance_lock(
	const struct statedir *statedir, const char *id, struct instance *out, struct err *e);
void instance_done(struct instance *instance);
/* Whether its path still leads to it: it may have been removed, and another made of that name. */
bool instance_is_named(const struct instance *instance);
/* Whether `name` in its directory is still the file that `fd` is of: who removed or replaced it has
 * another run, or nothing, where this one writes. */
int instance_holds(const struct instance *instance, const char *name, int fd, struct err *e);
/* The same of its lock, and of the directory itself: who is given its path must find it there. */
int instance_kept(const struct instance *instance, struct err *e);
/* -1: says what was done to `name` ("": the directory), and that the run is over. */
int instance_lost(
	const struct instance *instance, const char *name, const char *how, struct err *e);

/* Whether nothing is left to run: it has ended, or never began. */
bool instance_ended(const struct instance *instance);
/* Removes an instance that has ended, or never began, with everything in it. Refused while somebody
 * runs it and, but for `unfinished`, while it could still go on. It vanishes whole or not at all.
 */
int instance_remove(
	const struct statedir *statedir, const char *id, bool unfinished, struct err *e);
/* The same for one that the caller has locked, whatever it holds; the lock goes with it. */
int instance_discard(const struct statedir *statedir, struct instance *instance, struct err *e);
/* Removes what is left of those whose removal was cut short, which no id leads to any more. */
int instance_sweep(const struct statedir *statedir, struct err *e);

/* Who runs it now: pid 0 when nobody does. */
struct holder {
	pid_t pid;
	char host[65];
	char space[65]; /* whose process numbers its own is one of; "": not to be known */
};
int instance_holder(const struct instance *instance, struct holder *out, struct err *e);

/* Calls `each` for every instance id, in name order. */
int instance_list(const struct statedir *statedir, int (*each)(void *ctx, const char *id),
	void *ctx, struct err *e);
#endif
