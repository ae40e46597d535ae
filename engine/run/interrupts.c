#include "run/interrupts.h"

#include <sys/signalfd.h>

int interrupts_init(struct interrupts *interrupts, struct err *e)
{
	sigset_t ours;
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGCONT);
	sigaddset(&ours, SIGIO);
	*interrupts = (struct interrupts){.fd = -1};
	if (sigprocmask(SIG_BLOCK, &ours, &interrupts->before))
		return err_errno(e, "cannot block signals");
	interrupts->pipe_before = signal(SIGPIPE, SIG_IGN);
	interrupts->fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interrupts->fd >= 0)
		return 0;
	err_errno(e, "cannot receive signals");
	interrupts_done(interrupts);
	return -1;
}

void interrupts_done(struct interrupts *interrupts)
{
	interrupts_read(interrupts);
	own_close(&interrupts->fd);
	signal(SIGPIPE, interrupts->pipe_before);
	sigprocmask(SIG_SETMASK, &interrupts->before, NULL);
}

bool interrupts_stop(struct interrupts *interrupts)
{
	interrupts_read(interrupts);
	return interrupts->count > 0;
}

void interrupts_read(struct interrupts *interrupts)
{
	struct signalfd_siginfo got;
	while (interrupts->fd >= 0 &&
		read(interrupts->fd, &got, sizeof(got)) == (ssize_t)sizeof(got)) {
		if (got.ssi_signo == SIGIO)
			continue;
		interrupts->seen++;
		if (got.ssi_signo == SIGCONT)
			continue;
		if (!interrupts->first)
			interrupts->first = (int)got.ssi_signo;
		interrupts->count++;
	}
}
