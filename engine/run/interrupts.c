#include "run/interrupts.h"

#include <sys/signalfd.h>

int interrupts_init(struct interrupts *i, struct err *e)
{
	sigset_t ours;
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGCONT);
	sigaddset(&ours, SIGIO);
	*i = (struct interrupts){.fd = -1};
	if (sigprocmask(SIG_BLOCK, &ours, &i->before))
		return err_errno(e, "cannot block signals");
	i->pipe_before = signal(SIGPIPE, SIG_IGN);
	i->fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	if (i->fd >= 0)
		return 0;
	err_errno(e, "cannot receive signals");
	interrupts_done(i);
	return -1;
}

void interrupts_done(struct interrupts *i)
{
	interrupts_read(i);
	own_close(&i->fd);
	signal(SIGPIPE, i->pipe_before);
	sigprocmask(SIG_SETMASK, &i->before, NULL);
}

bool interrupts_stop(struct interrupts *i)
{
	interrupts_read(i);
	return i->count > 0;
}

void interrupts_read(struct interrupts *i)
{
	struct signalfd_siginfo got;
	while (i->fd >= 0 && read(i->fd, &got, sizeof(got)) == (ssize_t)sizeof(got)) {
		if (got.ssi_signo == SIGIO)
			continue;
		i->seen++;
		if (got.ssi_signo == SIGCONT)
			continue;
		if (!i->first)
			i->first = (int)got.ssi_signo;
		i->count++;
	}
}
