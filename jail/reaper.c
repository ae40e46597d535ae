/*
 * PID 1 of a strict jail: starts the command, reaps what is orphaned, and takes everything with it
 * when the command or the launcher ends.
 *
 * Attack: a daemon that outlives the command; an answer forged through /proc/1. The kernel kills a
 * PID namespace with its PID 1; this process holds no descriptor but the pipe that tells of the
 * launcher's end, cannot be inspected, and stands outside the command's Landlock domain.
 */
#include "jail/jail.h"
#include "jail/kernel.h"
#include "jail/leave_out.h"
#include "jail/seccomp.h"
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void woken(int signal_number)
{
	(void)signal_number;
}

struct start {
	struct jail *jail;
	const sigset_t *mask;
};

static int run_command(void *arg)
{
	const struct start *start = arg;
	sigprocmask(SIG_SETMASK, start->mask, NULL);
	return jail_steps(start->jail, start->jail->command) ? 125 : 0;
}

/* As vfork(2), on a stack of its own: this process stands still until the command has its own
 * memory, and nothing is copied. */
static pid_t start_command(struct jail *j, const sigset_t *mask)
{
	static char stack[256 * 1024] __attribute__((aligned(16)));
	struct start start = {j, mask};
	return clone(run_command, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
}

/* Returns once the command has ended, with its status recorded. */
static void reap(struct report *report, pid_t command)
{
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
		if (pid == command) {
			report->wait_status = status;
			report->ended = true;
		}
	}
}

int reaper_run(struct jail *j, struct err *e)
{
	sigset_t child, before;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, &before))
		return err_errno(e, "cannot block signals");
	struct sigaction action = {.sa_handler = woken};
	if (sigaction(SIGCHLD, &action, NULL))
		return err_errno(e, "cannot hear of the command's end");
	pid_t command = start_command(j, &before);
	if (command < 0)
		return err_errno(e, "cannot start the command's process");
	if (dup2(j->alive_fd, 0) || syscall(SYS_close_range, 1, ~0u, 0))
		return err_errno(e, "cannot close the reaper's descriptors");
	if (seccomp_enter(FILTER_REAPER))
		return err_errno(e, "cannot confine the reaper");
	struct pollfd alive = {.fd = 0};
	struct report *report = j->report;
	while (!report->ended) {
		/* The signal is open only inside ppoll, so none is lost between looking and
		 * waiting. */
		if (ppoll(&alive, 1, NULL, &before) > 0)
			_exit(125);
		reap(report, command);
	}
	/* The launcher may tell the outcome as soon as nothing else is left: what follows is only
	 * the kernel taking the namespaces down. */
	if (getpid() == 1) /* or the call would mean every process of this user */
		kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	getrusage(RUSAGE_CHILDREN, &report->used);
	close(alive.fd);
	_exit(0);
}
