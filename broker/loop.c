#include "broker/loop.h"

enum { EVENTS_MAX = 64 };

int loop_open(struct loop *l, struct err *e)
{
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll_fd < 0 ? err_errno(e, "cannot create an epoll instance") : 0;
}

int loop_add(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = w};
	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, w->fd, &event);
}

int loop_change(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = w};
	return epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, w->fd, &event);
}

void loop_turn(struct loop *l, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(l->epoll_fd, events, EVENTS_MAX, timeout_ms);
	for (int i = 0; i < count; i++) {
		struct watch *w = events[i].data.ptr;
		w->wake(w, events[i].events);
	}
}
