#include "instance/instance.h"

#include "base/io.h"
#include "base/suggest.h"
#include "config/config.h"
#include "instance/stop.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum {
	ID_BYTES_MAX = 64,
	HOLDER_BYTES = 256,
	HOST_BYTES = sizeof(((struct holder *)0)->host),
	SPACE_BYTES = sizeof(((struct holder *)0)->space),
	LOCK_STEP_MS = 10,
	LOCK_ALIVE_MS = 300,
	LOCK_GONE_MS = 5000,
	LOCK_TRIES = 16,
};

#define ELSEWHERE "AGENT6_STATE_HOME or agent6.state_dir chooses another place"

bool instance_id_valid(const char *id)
{
	size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	return n > 0 && n <= ID_BYTES_MAX && !id[n] && id[0] >= 'a' && id[0] <= 'z';
}

static int check_id(const char *id, struct err *e)
{
	return instance_id_valid(id) ? 0
				     : err_set(e,
					       "\"%s\" is not an instance id: lower-case letters, "
					       "digits, _ and -, a letter first, at most %d",
					       id, ID_BYTES_MAX);
}

/* Moves *at into its entry `name`. If `made` is given, creates a missing entry durably. */
static int step_into(int *at, const char *name, bool *made, struct err *e)
{
	if (made) {
		*made = mkdirat(*at, name, 0700) == 0;
		if (!*made && errno != EEXIST)
			return err_errno(e, "cannot create the directory %s", name);
		if (*made && fsync(*at))
			return err_errno(e, "cannot sync the directory above %s", name);
	}
	int next = openat(*at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A directory above may be closed to listing but open to passing through. */
	if (next < 0 && errno == EACCES)
		next = openat(*at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (next < 0)
		return err_errno(e, "cannot open the directory %s", name);
	close(*at);
	*at = next;
	return 0;
}

static int open_path(const char *path, bool *made, struct err *e)
{
	AUTO_FREE char *copy = strdup(path);
	AUTO_FD int at = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!copy || at < 0)
		return err_errno(e, "cannot open /");
	char *rest = copy, *save = NULL;
	for (char *name; (name = strtok_r(rest, "/", &save)); rest = NULL)
		if (step_into(&at, name, made, e))
			return err_wrap(e, "%s", path);
	return TAKE_FD(at);
}

/* Reports an unknown id, with a similar one if there is any. */
static int refuse_unknown(const struct statedir *statedir, const char *id, struct err *e)
{
	const struct dirent *entry;
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *best = NULL;
	DIR *all = asprintf(&path, "%s/machines", statedir->repo) < 0 ? NULL : opendir(path);
	while (all && (entry = readdir(all))) {
		const char *const pair[] = {best, entry->d_name};
		const char *near = suggest_name(id, pair, ARRAY_LEN(pair));
		if (near == entry->d_name) {
			free(best);
			best = strdup(near);
		}
	}
	if (all)
		closedir(all);
	if (best)
		return err_set(e, "there is no instance %s here; did you mean %s?", id, best);
	return err_set(
		e, "there is no instance %s here; `agent6 machine list` shows those there are", id);
}

/* Refuses links in an instance. In a directory that came from elsewhere, a link would make the run
 * write or empty another place, or give it to the machine's tools. */
static int check_own(int dir, const char *path, struct err *e)
{
	static const char *const names[] = {"bundle", "data", "pokes", "states", "workspace"};
	struct stat st;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!fstatat(dir, names[i], &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
			return err_set(e, "%s/%s is a link: put the directory itself there", path,
				names[i]);
	return 0;
}

/* Checks the owner of a directory, who decides what its journal says, and so what is run next. */
static int check_owner(const struct stat *st, const char *path, struct err *e)
{
	return !st->st_uid || config_is_owner(st->st_uid)
		       ? 0
		       : err_set(e,
				 "%s belongs to user %u, who could make this run do anything; if "
				 "it is yours, chown -R it to yourself, else give the run another "
				 "--id",
				 path, (unsigned)st->st_uid);
}

static int check_keeper(int dir, const char *path, struct err *e)
{
	struct stat st;
	if (fstat(dir, &st))
		return err_errno(e, "cannot look at %s", path);
	if (check_owner(&st, path, e))
		return -1;
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e,
			"%s: its mode is %04o, so that others could change what the run has done; "
			"look at what it holds, then chmod 700 it",
			path, (unsigned)st.st_mode & 07777);
	return 0;
}

/* Checks the directories above: whoever may write there could put another run in place of this one,
 * or a file of the user's into a clone. Root may keep its state in somebody else's directory, such
 * as one mounted for a container. */
static int check_above(const struct statedir *statedir, struct err *e)
{
	AUTO_FREE char *machines = NULL;
	if (asprintf(&machines, "%s/machines", statedir->repo) < 0)
		return err_set(e, "out of memory");
	const char *const paths[] = {statedir->root, statedir->repo, machines};
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct stat st;
		if (stat(paths[i], &st))
			return err_errno(e, "cannot look at %s", paths[i]);
		if ((i || geteuid()) && check_owner(&st, paths[i], e))
			return -1;
		if (config_others_may_write(&st))
			return err_set(e,
				"%s: its mode is %04o, so that others could put another run in the "
				"place of this one; look at what it holds, then chmod go-w it",
				paths[i], (unsigned)st.st_mode & 07777);
	}
	return 0;
}

static int open_in(const struct statedir *statedir, const char *id, bool create,
	struct instance *out, struct err *e)
{
	AUTO_FREE char *path = NULL;
	if (check_id(id, e))
		return -1;
	if (asprintf(&path, "%s/machines/%s", statedir->repo, id) < 0)
		return err_set(e, "out of memory");
	struct err why = ERR_NONE;
	bool made = false;
	AUTO_FD int dir = open_path(path, create ? &made : NULL, &why);
	if (dir < 0 && !create && why.number == ENOENT)
		return refuse_unknown(statedir, id, e);
	if (dir < 0 && create) {
		err_set(e, "%s; instances are kept there: " ELSEWHERE, why.text);
		if (e)
			e->number = why.number;
	} else if (dir < 0 && e) {
		*e = why;
	}
	if (dir < 0)
		return -1;
	if (create && (check_above(statedir, e) || check_keeper(dir, path, e)))
		return -1;
	char *name = check_own(dir, path, e) ? NULL : strdup(id);
	if (!name)
		return err_set(e, "out of memory");
	*out = (struct instance){name, TAKE_PTR(path), TAKE_FD(dir), -1, made};
	return 0;
}

int instance_open(
	const struct statedir *statedir, const char *id, struct instance *out, struct err *e)
{
	return open_in(statedir, id, false, out, e);
}

int instance_open_at(const char *given, struct instance *out, struct err *e)
{
	AUTO_FREE char *path = realpath(given, NULL);
	if (!path)
		return err_errno(e, "%s", given);
	const char *id = strrchr(path, '/') + 1;
	AUTO_FD int dir = check_id(id, e) ? -1 : open_path(path, NULL, e);
	if (dir < 0 || check_own(dir, path, e))
		return -1;
	char *name = strdup(id);
	if (!name)
		return err_set(e, "out of memory");
	*out = (struct instance){name, TAKE_PTR(path), TAKE_FD(dir), -1, false};
	return 0;
}

static void take_word(char **rest, char *out, size_t bytes)
{
	*rest += **rest == ' ';
	size_t len = strcspn(*rest, " \n");
	snprintf(out, bytes, "%.*s", (int)len, *rest);
	*rest += len;
}

/* Reads "PID HOST SPACE\n" from the lock file. It is only a hint: the kernel holds the lock
 * itself. */
static void read_holder(int fd, struct holder *out)
{
	char text[HOLDER_BYTES] = "";
	*out = (struct holder){0};
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return;
	char *rest;
	long pid = strtol(text, &rest, 10);
	out->pid = pid > 0 ? (pid_t)pid : 0;
	take_word(&rest, out->host, sizeof(out->host));
	take_word(&rest, out->space, sizeof(out->space));
}

static void host_name(char out[HOST_BYTES])
{
	memset(out, 0, HOST_BYTES);
	gethostname(out, HOST_BYTES - 1);
}

/* Writes "BOOT-NAMESPACE", which tells process numbers apart: containers often share host names. */
static void pid_space(char out[SPACE_BYTES])
{
	enum { BOOT_BYTES = 36 };
	struct stat ns;
	char boot[BOOT_BYTES];
	AUTO_FD int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	*out = '\0';
	if (fd >= 0 && read(fd, boot, sizeof(boot)) == BOOT_BYTES &&
		!stat("/proc/self/ns/pid", &ns))
		snprintf(out, SPACE_BYTES, "%.*s-%llu", BOOT_BYTES, boot,
			(unsigned long long)ns.st_ino);
}

/* Reports whether the holder's process has ended. Nothing is known of processes numbered
 * elsewhere. */
static bool is_gone(const struct holder *who)
{
	char space[SPACE_BYTES];
	if (who->pid <= 0)
		return false;
	pid_space(space);
	return *space && !strcmp(who->space, space) && kill(who->pid, 0) && errno == ESRCH;
}

static int write_holder(const struct instance *instance, struct err *e)
{
	char text[HOLDER_BYTES], host[HOST_BYTES], space[SPACE_BYTES];
	host_name(host);
	pid_space(space);
	int n = snprintf(text, sizeof(text), "%d %s %s\n", (int)getpid(), host, space);
	errno = ENOSPC; /* the cause of a short write */
	if (ftruncate(instance->lock_fd, 0) || pwrite(instance->lock_fd, text, (size_t)n, 0) != n)
		return err_errno(e, "cannot write %s/lock", instance->path);
	return 0;
}

/* Locks the file and the directory, so that deleting the lock file does not let a second runner in.
 * If the file system cannot lock directories, the file's lock must do. */
static int try_both(const struct instance *instance, int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}; /* all of the file */
	if (fcntl(fd, F_OFD_SETLK, &lock))
		return -1;
	return flock(instance->dir_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -1 : 0;
}

/* Takes the lock. A runner that was just killed may still be ending, or a child of it, so a held
 * lock is tried again for a short time. */
static int set_lock(const struct instance *instance, int fd)
{
	for (int ms = 0;; ms += LOCK_STEP_MS) {
		if (!try_both(instance, fd))
			return 0;
		if (errno != EAGAIN && errno != EACCES)
			return -1;
		struct holder who;
		read_holder(fd, &who);
		if (ms >= (is_gone(&who) ? LOCK_GONE_MS : LOCK_ALIVE_MS)) {
			errno = EWOULDBLOCK;
			return -1;
		}
		nanosleep(&(struct timespec){0, LOCK_STEP_MS * 1000000L}, NULL);
	}
}

static int refuse_running(const struct instance *instance, int fd, struct err *e)
{
	struct holder who;
	read_holder(fd, &who);
	if (who.pid)
		err_set(e,
			"instance %s is already running: process %d on %s holds it; stop it with "
			"\"agent6 machine stop %s\"",
			instance->id, (int)who.pid, who.host, instance->id);
	else
		err_set(e,
			"instance %s is already running, and its lock file does not say by whom: "
			"that run began a moment ago, or the file was removed; try again",
			instance->id);
	if (e)
		e->number = EWOULDBLOCK;
	return -1;
}

static int take_lock(struct instance *instance, struct err *e)
{
	AUTO_FD int fd = io_open_plain(instance->dir_fd, "lock", O_RDWR | O_CREAT, e);
	if (fd < 0)
		return err_wrap(e, "%s", instance->path);
	if (set_lock(instance, fd)) {
		if (errno != EWOULDBLOCK)
			return err_set(e,
				"cannot lock instance %s: %s; its file system has to offer "
				"locks: " ELSEWHERE,
				instance->id, strerror(errno));
		return refuse_running(instance, fd, e);
	}
	instance->lock_fd = TAKE_FD(fd);
	return 0;
}

bool instance_is_named(const struct instance *instance)
{
	struct stat ours, found;
	return !fstat(instance->dir_fd, &ours) && !stat(instance->path, &found) &&
	       io_is_same(&found, &ours);
}

/* Opens and locks. *away: the instance has been removed, which may be the cause of the error. */
static int try_lock(const struct statedir *statedir, const char *id, struct instance *instance,
	bool *away, struct err *e)
{
	int failed = open_in(statedir, id, true, instance, e);
	*away = failed && e->number == ENOENT;
	if (failed)
		return -1;
	failed = take_lock(instance, e);
	*away = !instance_is_named(instance);
	if (failed)
		return -1;
	if (*away)
		return err_set(
			e, "instance %s was removed while it was being opened; start it again", id);
	/* Drop requests that were meant for an earlier runner. */
	if (!stop_clear(instance, e) && !write_holder(instance, e))
		return 0;
	if (instance->made) /* nobody else can have written here */
		instance_discard(statedir, instance, NULL);
	return -1;
}

int instance_lock(
	const struct statedir *statedir, const char *id, struct instance *out, struct err *e)
{
	struct err why;
	bool away = true;
	for (int n = 0; away && n < LOCK_TRIES; n++) {
		struct instance i = INSTANCE_NONE;
		why = ERR_NONE;
		if (!try_lock(statedir, id, &i, &away, &why)) {
			*out = i;
			return 0;
		}
		instance_done(&i);
	}
	if (e)
		*e = why;
	return -1;
}

int instance_holds(const struct instance *instance, const char *name, int fd, struct err *e)
{
	struct stat found, ours;
	if (fstat(fd, &ours))
		return err_errno(e, "cannot examine %s", name);
	bool there = !fstatat(instance->dir_fd, name, &found, AT_SYMLINK_NOFOLLOW);
	if (!there && errno != ENOENT)
		return err_errno(e, "cannot examine %s", name);
	if (there && io_is_same(&found, &ours))
		return 0;
	return instance_lost(instance, name, there ? "replaced" : "removed", e);
}

int instance_kept(const struct instance *instance, struct err *e)
{
	return instance_is_named(instance) ? instance_holds(instance, "lock", instance->lock_fd, e)
					   : instance_lost(instance, "", "moved or removed", e);
}

int instance_lost(const struct instance *instance, const char *name, const char *how, struct err *e)
{
	return err_set(e,
		"%s%s%s was %s while instance %s was running; this run records nothing more: see "
		"what else uses its directory",
		instance->path, *name ? "/" : "", name, how, instance->id);
}

void instance_done(struct instance *instance)
{
	own_close(&instance->dir_fd);
	own_close(&instance->lock_fd);
	free(instance->id);
	free(instance->path);
	instance->id = instance->path = NULL;
}

int instance_holder(const struct instance *instance, struct holder *out, struct err *e)
{
	*out = (struct holder){0};
	struct err why = ERR_NONE;
	AUTO_FD int fd = io_open_plain(instance->dir_fd, "lock", O_RDONLY, &why);
	if (fd < 0)
		return why.number == ENOENT ? 0 : err_set(e, "%s: %s", instance->path, why.text);
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}; /* all of the file */
	if (fcntl(fd, F_OFD_GETLK, &lock))
		return err_errno(e, "cannot examine the lock of instance %s", instance->id);
	if (lock.l_type != F_UNLCK)
		read_holder(fd, out);
	if (is_gone(out)) /* it was killed, or the next holder has not yet written its name */
		*out = (struct holder){0};
	return 0;
}

int instance_journal(const struct instance *instance, struct err *e)
{
	int fd = io_open_plain(instance->dir_fd, "journal.jsonl", O_RDONLY, e);
	return fd < 0 ? err_wrap(e, "%s", instance->path) : fd;
}

static int is_instance(const struct dirent *entry)
{
	return instance_id_valid(entry->d_name);
}

int instance_list(const struct statedir *statedir, int (*each)(void *ctx, const char *id),
	void *ctx, struct err *e)
{
	AUTO_FREE char *path = NULL;
	if (asprintf(&path, "%s/machines", statedir->repo) < 0)
		return err_set(e, "out of memory");
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_instance, alphasort), failed = 0;
	if (n < 0)
		return errno == ENOENT ? 0 : err_errno(e, "cannot list %s", path);
	for (int at = 0; at < n; at++) {
		if (!failed && each(ctx, entries[at]->d_name))
			failed = -1;
		free(entries[at]);
	}
	free(entries);
	return failed;
}
