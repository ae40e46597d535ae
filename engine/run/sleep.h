/*
 * Sleeping without polling: an absolute CLOCK_REALTIME timer that notices clock steps, and a
 * descriptor for signals, one of which reports changes in the instance's directory and in `pokes/`.
 * If the kernel has no such signal, it looks once a second.
 */
#ifndef RUN_SLEEP_H
#define RUN_SLEEP_H
#include "instance/instance.h"
#include "instance/position.h"
#include "run/interrupts.h"

enum woke { WOKE_NOT, WOKE_TIMER, WOKE_POKE, WOKE_STOP };

struct sleep {
	const struct instance *instance;
	struct interrupts *interrupts;
	int64_t until_us; /* 0: no timer */
	/* for a timer that is a delay: sleep no longer than this, however the clock is set; 0: no
	 * limit */
	int64_t most_ms;
	bool pokes; /* a poke wakes it */
	/* Results. */
	enum woke woke; /* WOKE_STOP: a stop request or a signal */
	char poke[POSITION_NAME_BYTES], bad_poke[POSITION_NAME_BYTES];
	json_t *payload; /* new reference with WOKE_POKE */
};

/* Checks once whether something would wake it already. */
int sleep_look(struct sleep *sleep, struct err *e);
/* Sleeps until something wakes it. */
int sleep_wait(struct sleep *sleep, struct err *e);
#endif
