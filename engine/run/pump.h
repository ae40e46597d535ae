/*
 * The pump: carries a child's output until the child has ended, and ends it when it must.
 */
#ifndef RUN_PUMP_H
#define RUN_PUMP_H
#include "base/child.h"
#include "run/interrupts.h"
#include <stdint.h>

enum { PUMP_STREAMS_MAX = 8 };

struct pump_stream {
	int fd; /* the read end; owned, closed at its end; -1: not now */
	void (*take)(void *ctx, const char *bytes, size_t len); /* len 0: the stream has ended */
	void *ctx;
};

struct pump {
	struct child *child;
	struct pump_stream streams[PUMP_STREAMS_MAX];
	int stream_count;
	struct interrupts *interrupts;
	int64_t deadline_ms;     /* monotonic; 0: none. Then the child is killed */
	int tick_ms;             /* 0: none */
	void (*tick)(void *ctx); /* and when a signal arrived */
	void *ctx;
	bool group;    /* the child leads a process group, which ends with it */
	bool stop;     /* set by a taker: kill the child */
	bool ended;    /* set by a taker: as if the child had ended */
	bool draining; /* the child has ended: what a taker gets is what is left */
	/* Results. */
	bool late, interrupted; /* killed for the deadline, for a second signal */
	int status;             /* wait(2) */
};

/* Runs until the child has ended and what it wrote is drained; a grandchild that still holds a pipe
 * is not waited for. Closes all streams in any case. */
int pump_carry(struct pump *pump, struct err *e);
/* The same, and reaps the child. */
int pump_run(struct pump *pump, struct err *e);
#endif
