#include "base/child.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { CHILD_FDS_MAX = 64, CHILDREN_MAX = 256 };

/* The children started here; any other child of this process was left to it by another process. */
static pid_t own[CHILDREN_MAX];

static pid_t *find_own(pid_t pid)
{
	for (pid_t *at = own; at < own + CHILDREN_MAX; at++)
		if (*at == pid)
			return at;
	return NULL;
}

bool child_is_own(pid_t pid)
{
	return find_own(pid);
}

/* Lifts the sources above every target, so that no dup2 overwrites a source that is still
 * needed. */
static int lift_fds(const struct child_spec *spec, int lifted[], struct err *e)
{
	for (int i = 0; i < spec->fd_count; i++) {
		lifted[i] = spec->fds[i] < 0
				    ? -1
				    : fcntl(spec->fds[i], F_DUPFD_CLOEXEC, spec->fd_count + 3);
		if (spec->fds[i] >= 0 && lifted[i] < 0)
			return err_errno(e, "cannot duplicate descriptor %d", spec->fds[i]);
	}
	return 0;
}

static int spawn(const struct child_spec *spec, const int lifted[], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	for (int i = 0; i < spec->fd_count; i++) {
		if (lifted[i] < 0)
			posix_spawn_file_actions_addclose(&actions, i);
		else
			posix_spawn_file_actions_adddup2(&actions, lifted[i], i);
	}
	/* Close every other descriptor that our own parent left open. */
	posix_spawn_file_actions_addclosefrom_np(&actions, spec->fd_count);
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	if (spec->own_session)
		flags |= POSIX_SPAWN_SETSID;
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, flags);
	int failed = posix_spawn(pid, spec->path, &actions, &attr, spec->argv, spec->env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

int child_start(const struct child_spec *spec, struct child *out, struct err *e)
{
	int lifted[CHILD_FDS_MAX];
	pid_t *place = find_own(0);
	if (spec->fd_count > CHILD_FDS_MAX || !place)
		return err_set(e, "too many descriptors for a child, or too many children");
	memset(lifted, -1, sizeof(lifted));
	pid_t pid = -1;
	int failed = lift_fds(spec, lifted, e) ? -1 : spawn(spec, lifted, &pid);
	for (int i = 0; i < spec->fd_count; i++)
		own_close(&lifted[i]);
	if (failed < 0)
		return -1;
	errno = failed;
	if (failed)
		return err_errno(e, "cannot start %s", spec->path);
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		err_errno(e, "cannot watch %s", spec->path);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return -1;
	}
	*place = pid;
	*out = (struct child){.pid = pid, .pidfd = pidfd};
	return 0;
}

int child_wait(struct child *child)
{
	int status;
	pid_t got;
	do
		got = waitpid(child->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	pid_t *place = find_own(child->pid);
	if (place)
		*place = 0;
	own_close(&child->pidfd);
	return got < 0 ? -1 : status;
}

char *child_sibling(const char *program, struct err *e)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0) {
		err_errno(e, "cannot find this program's own directory from /proc/self/exe");
		return NULL;
	}
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	static const char *const places[] = {"", "/../libexec/agent6"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char *path = NULL;
		if (asprintf(&path, "%s%s/%s", self, places[i], program) < 0)
			break;
		if (!access(path, X_OK))
			return path;
		free(path);
	}
	err_set(e, "%s is missing: it belongs beside %s/agent6, or in ../libexec/agent6", program,
		self);
	return NULL;
}
