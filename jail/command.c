/*
 * The command's own process, last steps: no descriptor but three, the policy's requirements met,
 * the working directory, then execve.
 *
 * Attack: a descriptor that the caller forgot to close (a directory, a connected socket, a log)
 * walks through every other wall.
 */
#include "jail/jail.h"
#include "jail/kernel.h"
#include "jail/leave_out.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int command_check(struct jail *j, struct err *e)
{
	char at[PATH_MAX];
	if (chdir(j->policy.cwd))
		return err_errno(e, "cannot enter the working directory %s", j->policy.cwd);
	if (!getcwd(at, sizeof(at)) || strcmp(at, j->policy.cwd) != 0)
		return err_set(e, "the working directory %s leads through a link", j->policy.cwd);
	return 0;
}

int command_require(struct jail *j, struct err *e)
{
	return report_require(&j->report->layers, j->policy.require, e);
}

int command_close(struct jail *j, struct err *e)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return err_errno(e, "cannot fill descriptor %d", fd);
	unsigned first = 3;
	if (j->order_fd >= 0) { /* serve: the last one goes when the order has come */
		if (j->order_fd != 3 && dup3(j->order_fd, 3, O_CLOEXEC) < 0)
			return err_errno(e, "cannot keep the order's socket");
		j->order_fd = 3;
		first++;
	}
	if (!LAYER_ON("descriptors"))
		return 0;
	return syscall(SYS_close_range, first, ~0u, 0) ? err_errno(e, "cannot close descriptors")
						       : 0;
}

static const char *path_of(char *const env[])
{
	for (; *env; env++)
		if (!strncmp(*env, "PATH=", 5))
			return *env + 5;
	return "";
}

/* As shells search: the first that runs; else the first failure that is not "no such file". */
static int execute(const char *program, char *const argv[], char *const env[])
{
	if (strchr(program, '/')) {
		execve(program, argv, env);
		return errno;
	}
	int kept = ENOENT;
	for (const char *path = path_of(env); *path;) {
		char full[PATH_MAX];
		int len = (int)strcspn(path, ":");
		snprintf(full, sizeof(full), "%.*s/%s", len, path, program);
		if (len)
			execve(full, argv, env);
		if (len && errno != ENOENT && errno != ENOTDIR && kept == ENOENT)
			kept = errno;
		path += len + (path[len] == ':');
	}
	return kept;
}

/* Returns only when there is nothing to execute: the report has the reason, and the process ends.
 */
int command_execute(struct jail *j, struct err *e)
{
	(void)e;
	j->report->set_up = true;
	j->report->exec_errno =
		execute(j->policy.argv[0], (char *const *)(uintptr_t)j->policy.argv, j->policy.env);
	return 0;
}
