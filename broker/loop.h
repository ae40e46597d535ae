/*
 * The event loop: one epoll instance, callbacks by descriptor, level-triggered.
 */
#ifndef BROKER_LOOP_H
#define BROKER_LOOP_H
#include "base/err.h"
#include <stdint.h>
#include <sys/epoll.h>

enum { EVENTS_MAX = 64 };

/* Embedded in whatever owns the descriptor. */
struct watch {
	int fd;                        /* -1: none */
	uint32_t wanted;               /* asked for so far; 0: not watched */
	uint32_t ready;                /* what it is woken for */
	void (*wake)(struct watch *w); /* NULL: `ready` says it */
	void *owner;                   /* for `wake` */
};

struct loop {
	int epoll_fd;                         /* the caller's */
	struct epoll_event batch[EVENTS_MAX]; /* of this turn; what is forgotten is NULL */
	int at, count;
};

/* Asks for exactly `events` from now on: 0 stops watching, EPOLLHUP alone waits for the end and for
 * errors, which are reported whatever else is asked for. -1 with errno. */
int loop_want(struct loop *l, struct watch *w, uint32_t events);
/* Closes what no other process holds too (it would stay watched); nothing of this turn wakes it any
 * more, so its owner may be freed. */
void loop_close(struct loop *l, struct watch *w);
/* Waits up to `timeout_ms` (-1: for ever) and wakes what is ready, once each. */
void loop_turn(struct loop *l, int timeout_ms);
#endif
