/*
 * Signals as a descriptor. The first SIGINT or SIGTERM asks for a stop at the next boundary, the
 * second kills the running state. SIGCONT is read because a process that was stopped may have to
 * draw its screen again. SIGIO only wakes: a watched directory has changed.
 */
#ifndef RUN_INTERRUPTS_H
#define RUN_INTERRUPTS_H
#include "base/err.h"
#include <signal.h>
#include <stdbool.h>

struct interrupts {
	int fd;    /* readable when a signal has arrived; owned */
	int first; /* the first SIGINT or SIGTERM; 0: none yet */
	int count;
	int seen; /* number of signals other than SIGIO */
	sigset_t before;
	void (*pipe_before)(int);
};

/* Blocks these signals (and ignores SIGPIPE) until interrupts_done. */
int interrupts_init(struct interrupts *interrupts, struct err *e);
void interrupts_done(struct interrupts *interrupts);
/* Takes the signals that have arrived, without blocking. */
void interrupts_read(struct interrupts *interrupts);
/* Reports whether a stop was asked for, and looks for new signals first. The end of a session or
 * service sends SIGTERM to all its processes, so a child that dies of it has not failed. */
bool interrupts_stop(struct interrupts *interrupts);
/* Reports whether the running state is to be killed. */
static inline bool interrupts_kill(const struct interrupts *interrupts)
{
	return interrupts->count >= 2;
}
#endif
