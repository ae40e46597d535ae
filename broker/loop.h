/*
 * The event loop: one epoll instance, callbacks by descriptor.
 */
#ifndef BROKER_LOOP_H
#define BROKER_LOOP_H
#include "base/err.h"
#include <stdint.h>
#include <sys/epoll.h>

/* Embedded in whatever owns the descriptor; must outlive the batch of events it was added in. */
struct watch {
	int fd;
	void (*wake)(struct watch *w, uint32_t events);
};

struct loop {
	int epoll_fd;
};

int loop_open(struct loop *l, struct err *e) MUST_CHECK;
/* `events` as epoll_ctl(2). -1 with errno. */
int loop_add(struct loop *l, struct watch *w, uint32_t events) MUST_CHECK;
int loop_change(struct loop *l, struct watch *w, uint32_t events);
/* Waits up to `timeout_ms` (-1: for ever) and wakes what is ready, once each. */
void loop_turn(struct loop *l, int timeout_ms);
#endif
