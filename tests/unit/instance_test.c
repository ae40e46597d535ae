/* The lock of an instance: one runner at a time, of the directory that the id names. */
#include "instance/instance.h"
#include "tests/kit/tap.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static struct statedir statedir;

static void test_lock(void)
{
	struct instance i = INSTANCE_NONE, again;
	struct err e = ERR_NONE;
	struct holder who;
	is(instance_lock(&statedir, "a", &i, &e), 0, "a free one is had %s", e.text);
	is(instance_lock(&statedir, "a", &again, &e), -1, "a second runner is refused");
	is(e.number, EWOULDBLOCK, "as such");
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	has_str(e.text, pid, "and told who holds it");
	ok(instance_holder(&i, &who, NULL) == 0 && who.pid == getpid(), "readers see it");
	is(unlinkat(i.dir_fd, "lock", 0), 0, "its lock file may be deleted");
	e = ERR_NONE;
	is(instance_lock(&statedir, "a", &again, &e), -1,
		"a second runner is refused all the same");
	is(e.number, EWOULDBLOCK, "as such");
	has_str(e.text, "does not say by whom", "and told why nobody is named");
	instance_done(&i);
	ok(instance_lock(&statedir, "a", &again, NULL) == 0, "a released lock is free");
	instance_done(&again);
	ok(!instance_id_valid("") && !instance_id_valid("../x") && !instance_id_valid("A") &&
			!instance_id_valid("1") && instance_id_valid("a-1_b"),
		"ids are plain names");
}

/* Reports whether a process has the lock file of `instance` open. */
static bool has_lock_open(pid_t pid, const struct instance *instance)
{
	char dir[64], link[PATH_MAX + 64], target[PATH_MAX] = "", wanted[PATH_MAX];
	bool found = false;
	const struct dirent *entry;
	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	snprintf(wanted, sizeof(wanted), "%s/lock", instance->path);
	DIR *all = opendir(dir);
	while (all && !found && (entry = readdir(all))) {
		snprintf(link, sizeof(link), "%s/%s", dir, entry->d_name);
		ssize_t n = readlink(link, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		/* The one it was born with is of the same file. */
		found = !strcmp(target, wanted) &&
			strtol(entry->d_name, NULL, 10) != instance->lock_fd;
	}
	if (all)
		closedir(all);
	return found;
}

/* The status of a process that locks `id` and finds itself in the directory of that name. */
static int lock_named(const char *id)
{
	struct instance i = INSTANCE_NONE;
	struct stat ours, found;
	if (instance_lock(&statedir, id, &i, NULL))
		return 1;
	if (stat(i.path, &found))
		return 2;
	return fstat(i.dir_fd, &ours) || ours.st_ino != found.st_ino || !i.made ? 3 : 0;
}

/* Has the lock file name process `pid`, with `more` behind what it says of where that one is. */
static void rename_holder(const struct instance *instance, pid_t pid, const char *more)
{
	char was[256] = "", text[512];
	ok(pread(instance->lock_fd, was, sizeof(was) - 1, 0) > 0, "the holder has written itself");
	int n = snprintf(text, sizeof(text), "%d%.*s%s\n", (int)pid,
		(int)strcspn(strchr(was, ' '), "\n"), strchr(was, ' '), more);
	is(ftruncate(instance->lock_fd, 0), 0, "its name is taken off");
	is(pwrite(instance->lock_fd, text, (size_t)n, 0), n, "and another's written");
}

/* A container may have its host's name, and has processes of which the host has no numbers. */
static void test_holder_elsewhere(void)
{
	struct instance i = INSTANCE_NONE;
	struct err e = ERR_NONE;
	struct holder who;
	is(instance_lock(&statedir, "c", &i, &e), 0, "an instance is held %s", e.text);
	pid_t gone = fork();
	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	rename_holder(&i, gone, "");
	ok(!instance_holder(&i, &who, &e) && !who.pid, "by one who is gone: by nobody %s", e.text);
	rename_holder(&i, gone, "1");
	ok(!instance_holder(&i, &who, &e) && who.pid == gone,
		"a process of another container is not known to be gone %s", e.text);
	instance_done(&i);
}

static void test_lock_of_removed(void)
{
	struct instance i = INSTANCE_NONE;
	struct err e = ERR_NONE;
	int status = -1;
	is(instance_lock(&statedir, "b", &i, &e), 0, "a first runner %s", e.text);
	/* For one who is gone the other waits seconds. */
	pid_t gone = fork();
	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	rename_holder(&i, gone, "");
	pid_t second = fork();
	if (!second) {
		/* Its own copies of the locks have to go, and the numbers not be had by the next.
		 */
		dup2(STDERR_FILENO, i.lock_fd);
		dup2(STDERR_FILENO, i.dir_fd);
		_exit(lock_named("b"));
	}
	while (!has_lock_open(second, &i) && !waitpid(second, &status, WNOHANG))
		nanosleep(&(struct timespec){0, 1000000L}, NULL);
	is(instance_discard(&statedir, &i, &e), 0, "the first takes it away %s", e.text);
	is(i.lock_fd, -1, "and keeps none of its files open: on NFS and FUSE it would stay");
	instance_done(&i);
	waitpid(second, &status, 0);
	is(status, 0, "whoever waited has the lock of the directory that it made");
}

static void test_statedir(void)
{
	struct statedir s;
	struct err e = ERR_NONE;
	ok(statedir_find("/usr", "/usr/lib", "id", &s, &e) < 0,
		"a state directory in the workspace");
	e = ERR_NONE;
	ok(statedir_find("/usr/lib", "/usr", "id", &s, &e) < 0,
		"a workspace in the state directory");
	has_str(e.text, "lies in the state directory", "which is said");
	e = ERR_NONE;
	if (!ok(!statedir_find("/usr", "/agent6-none/state", "id", &s, &e),
		    "one that is not there"))
		return;
	is_str(s.root, "/agent6-none/state", "and nothing of it: its place");
	is_str(s.repo, "/agent6-none/state/id", "and the repository's in it");
	statedir_done(&s);
}

int main(void)
{
	struct err e = ERR_NONE;
	test_statedir();
	if (statedir_find("/usr", tap_scratch(), "usr", &statedir, &e)) /* no run writes there */
		bail("%s", e.text);
	test_lock();
	test_holder_elsewhere();
	test_lock_of_removed();
	statedir_done(&statedir);
	return tap_done();
}
