/*
 * PID 1 of a strict jail: starts the command, reaps orphans, and ends everything when the command
 * or the launcher ends.
 *
 * Attack: a daemon that outlives the command; an answer forged through /proc/1. The kernel kills a
 * PID namespace with its PID 1. This process holds no descriptor but the pipe that signals the
 * launcher's end, cannot be inspected, and is outside the command's Landlock domain.
 */
#include "base/clock.h"
#include "jail/jail.h"
#include "jail/seccomp.h"
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

static void woken(int signal_number)
{
	(void)signal_number;
}

/* Reaps ended processes and records the command's status. Returns whether any is left. */
static bool reap(struct jail_report *report, pid_t command)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == command) {
			report->wait_status = status;
			report->ended = true;
		}
	}
	return !pid;
}

/* Blocks SIGCHLD before there is another thread, which then has the same mask: one that is still
 * ending would take the signal, and nobody would look. */
int reaper_begin(struct jail *jail, struct err *e)
{
	sigset_t child;
	(void)jail;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, NULL) ||
		sigaction(SIGCHLD, &(struct sigaction){.sa_handler = woken}, NULL))
		return err_errno(e, "cannot wait for the command's end");
	return 0;
}

static struct timespec until(int64_t deadline_ms)
{
	int64_t ms = deadline_ms - clock_monotonic_ms();
	ms = ms > 0 ? ms : 0;
	return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

/* Returns the time of the next look. Ends the jail if it is over its limit. */
static int watch(struct jail *jail)
{
	int wait_ms = memory_look(jail, false);
	if (jail->report->limit && getpid() == 1)
		kill(-1, SIGKILL);
	return wait_ms;
}

int reaper_run(struct jail *jail, struct err *e)
{
	static char stack[256 * 1024] __attribute__((aligned(16)));
	sigset_t none;
	sigemptyset(&none);
	/* Again, because a C library that changes ids restores the mask that it found, or any mask
	 * if it could not ask. The end of a command would be lost. */
	if (reaper_begin(jail, e))
		return -1;
	/* In the same memory, on a stack of its own, so that nothing is copied. From here on this
	 * process allocates nothing. */
	pid_t command = clone(jail_command, stack + sizeof(stack), CLONE_VM | SIGCHLD, jail);
	if (command < 0)
		return err_errno(e, "cannot start the command's process");
	if (dup2(jail->first_fd, 0) || syscall(SYS_close_range, 1, ~0u, 0))
		return err_errno(e, "cannot close the reaper's descriptors");
	if (seccomp_enter(FILTER_REAPER))
		return err_errno(e, "cannot confine the reaper");
	struct pollfd alive = {.fd = 0};
	bool left = false, watched = memory_watched(jail);
	bool begun = jail->order_fd < 0; /* else the launcher signals the order */
	int64_t look_ms = watched ? clock_monotonic_ms() + memory_first_ms(jail) : 0;
	while (!jail->report->ended) {
		struct timespec left_time = until(look_ms);
		/* The signal is unblocked only inside ppoll, so none is lost between looking and
		 * waiting. */
		int got = ppoll(&alive, 1, watched && begun ? &left_time : NULL, &none);
		if (got > 0)
			_exit(125);
		left = reap(jail->report, command);
		if (!watched || jail->report->ended)
			continue;
		if (!begun)
			look_ms = clock_monotonic_ms() + memory_first_ms(jail);
		else if (clock_monotonic_ms() >= look_ms)
			look_ms = clock_monotonic_ms() + watch(jail);
		begun = true;
	}
	if (watched && left && jail->report->wait_status)
		memory_look(jail, true);
	/* The launcher may report the outcome as soon as nothing else is left; then the kernel only
	 * takes the namespaces down. Without children there are no descendants either, and the
	 * kernel need not search every process of the host. */
	if (left && getpid() == 1) /* else the call would reach every process of this user */
		kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	getrusage(RUSAGE_CHILDREN, &jail->report->used);
	close(alive.fd);
	/* Wait for the launcher to end this process: two processes that are taken down at once
	 * delay each other, and somebody waits for the launcher. */
	for (;;)
		ppoll(NULL, 0, NULL, &none);
}
