/*
 * The pump: reads a child's output until the child has ended, and kills it when it must.
 */
#ifndef RUN_PUMP_H
#define RUN_PUMP_H
#include "base/child.h"
#include "run/interrupts.h"
#include <stdint.h>

enum { PUMP_STREAMS_MAX = 8 };

struct pump_stream {
	int fd; /* the read end; owned, closed when the stream ends; -1: paused */
	void (*take)(void *ctx, const char *bytes, size_t len); /* len 0: the stream has ended */
	void *ctx;
};

struct pump {
	struct child *child;
	struct pump_stream streams[PUMP_STREAMS_MAX];
	int stream_count;
	struct interrupts *interrupts;
	int64_t deadline_ms;     /* monotonic; the child is killed then; 0: none */
	int tick_ms;             /* 0: none */
	void (*tick)(void *ctx); /* also called when a signal has arrived */
	void *ctx;
	bool group;    /* the child leads a process group, which is killed with it */
	bool stop;     /* set by a taker: kill the child */
	bool ended;    /* set by a taker: treat the child as ended */
	bool draining; /* the child has ended: takers get the rest */
	/* Results. */
	bool late, interrupted; /* killed for the deadline; killed for a second signal */
	int status;             /* as wait(2) reports it */
};

/* Runs until the child has ended and its output is drained, without waiting for a grandchild that
 * still holds a pipe. Closes all streams in any case. */
int pump_carry(struct pump *pump, struct err *e);
/* Does the same, and reaps the child. */
int pump_run(struct pump *pump, struct err *e);
#endif
