/*
 * The last steps of the command's own process: closes all descriptors but three, checks the
 * policy's requirements, enters the working directory, and calls execve.
 *
 * Attack: a descriptor that the caller forgot to close (a directory, a connected socket, a log)
 * leads past every other layer.
 */
#include "base/io.h"
#include "jail/jail.h"
#include <limits.h>

int command_check(struct jail *jail, struct err *e)
{
	char at[PATH_MAX];
	if (chdir(jail->policy.cwd))
		return err_errno(e, "cannot enter the working directory %s", jail->policy.cwd);
	if (!getcwd(at, sizeof(at)) || strcmp(at, jail->policy.cwd) != 0)
		return err_set(
			e, "the working directory %s leads through a link", jail->policy.cwd);
	return 0;
}

int command_close(struct jail *jail, struct err *e)
{
	/* Close them before execve, which looks the program up first and could do so through
	 * /proc/self/fd. The socket of an order leads nowhere, and is closed by execve. */
	if (LAYER_ON("descriptors") && io_close_others(&jail->order_fd, 1))
		return err_errno(e, "cannot close descriptors");
	return 0;
}

/* Checks the command's three descriptors. Through a directory outside, names lead to everything
 * above and below it, and Landlock does not prevent changing modes and times there. A readable
 * terminal could be made the session's own. */
int command_stdio(struct jail *jail, struct err *e)
{
	struct stat st;
	for (int fd = STDIN_FILENO; LAYER_ON("descriptors") && fd <= STDERR_FILENO; fd++) {
		bool readable = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY;
		if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
			return err_set(
				e, "descriptor %d is a directory, a way out of the jail", fd);
		if (jail->policy.pty && readable && isatty(fd))
			return err_set(e,
				"descriptor %d is a terminal of the host, which a command with "
				"\"pty\" could take; give it a file or a pipe, or open it for "
				"writing only",
				fd);
	}
	return 0;
}

/* Allocates the arguments before the limits, which may leave no memory. */
int command_arguments(struct jail *jail, struct err *e)
{
	size_t i, count = 0;
	json_t *text;
	const char *name;
	jail->argv = calloc(json_array_size(jail->policy.argv) + 2, sizeof(*jail->argv));
	jail->env = calloc(json_object_size(jail->policy.env) + 1, sizeof(*jail->env));
	if (!jail->argv || !jail->env)
		return err_set(e, "out of memory");
	json_array_foreach ((json_t *)(uintptr_t)jail->policy.argv, i, text)
		jail->argv[i + 1] = (char *)(uintptr_t)json_string_value(text);
	json_object_foreach (jail->policy.env, name, text)
		if (asprintf(&jail->env[count++], "%s=%s", name, json_string_value(text)) < 0)
			return err_set(e, "out of memory");
	return 0;
}

/* Executes a file; a script without an interpreter line is the shell's, as in a shell. */
static void execute_at(char **argv, const char *path)
{
	char *name = argv[1];
	execve(path, argv + 1, environ);
	if (errno != ENOEXEC)
		return;
	argv[0] = (char[]){"/bin/sh"};
	argv[1] = (char *)(uintptr_t)path;
	execve(argv[0], argv, environ);
	argv[1] = name;
}

/* Executes the program found in PATH like execvp, which handles such scripts differently in
 * different C libraries: the shell gets the file that PATH found, not another one of its name.
 * Returns the error if there was nothing to execute. */
static int execute_found(char **argv)
{
	char path[PATH_MAX];
	int why = ENOENT;
	if (strchr(argv[1], '/')) {
		execute_at(argv, argv[1]);
		return errno;
	}
	for (const char *next, *dirs = getenv("PATH"); dirs; dirs = next ? next + 1 : NULL) {
		next = strchr(dirs, ':');
		int len = (int)strcspn(dirs, ":");
		if (snprintf(path, sizeof(path), "%.*s/%s", len ? len : 1, len ? dirs : ".",
			    argv[1]) >= PATH_MAX)
			continue;
		execute_at(argv, path);
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return errno;
		why = errno == EACCES ? EACCES : why;
	}
	return why;
}

/* Returns only if there is nothing to execute: the report has the reason, and the process ends. */
int command_execute(struct jail *jail, struct err *e)
{
	(void)e;
	jail->report->set_up = true;
	environ =
		/* It always has a PATH for the search. */
		LAYER_ON("environment") ? jail->env : environ;
	jail->report->exec_errno = execute_found(jail->argv);
	jail->report->uninterpreted = jail->report->exec_errno == ENOENT &&
				      strchr(jail->argv[1], '/') && !access(jail->argv[1], F_OK);
	return 0;
}
