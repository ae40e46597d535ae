/*
 * The launcher's own end: by a signal, or with the process that started it.
 *
 * Attack: a daemon that outlives the command because its launcher was interrupted. The launcher
 * takes the signals that would end it from a descriptor, ends all that it runs, and then itself.
 */
#include "jail/jail.h"
#include <sys/signalfd.h>

enum { MASK_BYTES = 8 };
#define BIT(number) (1ull << ((number)-1))

/* Signals for faults in this program, for stops, and those without effect by default. They are
 * numbered for the kernel: a C library would leave some out. */
static const uint64_t left_alone = BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGABRT) | BIT(SIGBUS) |
				   BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS) | BIT(SIGCHLD) |
				   BIT(SIGCONT) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) |
				   BIT(SIGURG) | BIT(SIGWINCH);

/* Sets up the lifeline. The death signal is sent when the thread that started this process ends,
 * perhaps long before its program: it only wakes a stopped launcher, and parent_fd tells who has
 * ended. A parent in another PID namespace cannot be watched. */
int lifeline_begin(struct jail *jail, bool watch, struct err *e)
{
	/* SIGPIPE is blocked but not taken: a write to a closed pipe then fails with EPIPE. */
	const uint64_t blocked = ~left_alone, taken = blocked & ~BIT(SIGPIPE);
	pid_t parent = getppid();
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, NULL, MASK_BYTES);
	jail->asked_fd = (int)syscall(SYS_signalfd4, -1, &taken, MASK_BYTES, SFD_CLOEXEC);
	if (jail->asked_fd < 0)
		return err_errno(e, "cannot take signals from a descriptor");
	prctl(PR_SET_PDEATHSIG, watch && !parent ? SIGTERM : SIGCONT);
	if (!watch || !parent)
		return 0;
	jail->parent_fd = (int)syscall(SYS_pidfd_open, parent, 0);
	return jail->parent_fd < 0 ? err_errno(e, "cannot watch the process that started this one")
				   : 0;
}

void lifeline_read(struct jail *jail)
{
	struct signalfd_siginfo asked;
	if (read(jail->asked_fd, &asked, sizeof(asked)) == sizeof(asked))
		jail->asked = (int)asked.ssi_signo;
}

void lifeline_end(const struct jail *jail, int code)
{
	static const uint64_t nothing;
	if (jail->asked)
		kill(getpid(), jail->asked);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, NULL, MASK_BYTES);
	_exit(code);
}
