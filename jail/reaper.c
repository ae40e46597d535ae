/*
 * PID 1 of a strict jail: starts the command, reaps what is orphaned, and takes everything with it
 * when the command or the launcher ends.
 *
 * Attack: a daemon that outlives the command; an answer forged through /proc/1. The kernel kills a
 * PID namespace with its PID 1; this process holds no descriptor but the pipe that tells of the
 * launcher's end, cannot be inspected, and stands outside the command's Landlock domain.
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

/* Collects who has ended, with the command's status recorded. Whether anybody is left. */
static bool reap(struct report *report, pid_t command)
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

/* Before there is another thread, which has the same mask then: one that is still ending would take
 * the signal, and nobody would look. */
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

/* The next look's time, from now. Over its limit, nothing of the jail goes on. */
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
	/* Once more: a C library that changes ids puts back the mask that it found, and where it
	 * could not ask for that, any. The end of a command would be lost. */
	if (reaper_begin(jail, e))
		return -1;
	/* In the same memory, on a stack of its own, so that nothing is copied; from here on this
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
	bool begun = jail->order_fd < 0; /* else the launcher's signal tells of the order */
	int64_t look_ms = watched ? clock_monotonic_ms() + memory_first_ms(jail) : 0;
	while (!jail->report->ended) {
		struct timespec left_time = until(look_ms);
		/* The signal is open only inside ppoll, so none is lost between looking and
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
	/* The launcher may tell the outcome as soon as nothing else is left: what follows is only
	 * the kernel taking the namespaces down. Who has no children has no descendants either, and
	 * spares the kernel a look at every process of the host. */
	if (left && getpid() == 1) /* or the call would mean every process of this user */
		kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	getrusage(RUSAGE_CHILDREN, &jail->report->used);
	close(alive.fd);
	/* The launcher's end ends this: two processes that are taken apart at once delay each
	 * other, and somebody waits for that one. */
	for (;;)
		ppoll(NULL, 0, NULL, &none);
}
