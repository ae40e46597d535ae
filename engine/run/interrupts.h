/*
 * SIGINT and SIGTERM as a descriptor: the first asks for a stop at the next boundary, the second
 * kills the running state. SIGCONT as well: who was stopped may have lost what was on the screen.
 * SIGIO only wakes: a directory that somebody asked about has changed.
 */
#ifndef RUN_INTERRUPTS_H
#define RUN_INTERRUPTS_H
#include "base/err.h"
#include <signal.h>
#include <stdbool.h>

struct interrupts {
	int fd;    /* readable when one arrived; owned */
	int first; /* the first signal, 0: none yet */
	int count;
	int seen; /* of all but SIGIO */
	sigset_t before;
	void (*pipe_before)(int);
};

/* Blocks them (and ignores SIGPIPE) until interrupts_done. */
int interrupts_init(struct interrupts *interrupts, struct err *e);
void interrupts_done(struct interrupts *interrupts);
/* Takes what has arrived, without blocking. */
void interrupts_read(struct interrupts *interrupts);
/* Whether a stop was asked for, just now included: the end of a session or service sends SIGTERM to
 * every process of it, and what that ended has not failed. */
bool interrupts_stop(struct interrupts *interrupts);
/* Whether what runs is to be killed. */
static inline bool interrupts_kill(const struct interrupts *interrupts)
{
	return interrupts->count >= 2;
}
#endif
