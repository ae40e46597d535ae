#include "broker/loop.h"

int loop_want(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = w};
	int change = !w->wanted ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	if (events == w->wanted)
		return 0;
	w->wanted = events;
	return epoll_ctl(l->epoll_fd, change, w->fd, &event);
}

void loop_close(struct loop *l, struct watch *w)
{
	for (int i = l->at + 1; i < l->count; i++)
		if (l->batch[i].data.ptr == w)
			l->batch[i].data.ptr = NULL;
	w->wanted = 0;
	own_close(&w->fd);
}

void loop_turn(struct loop *l, int timeout_ms)
{
	l->count = epoll_wait(l->epoll_fd, l->batch, EVENTS_MAX, timeout_ms);
	for (l->at = 0; l->at < l->count; l->at++) {
		struct watch *w = l->batch[l->at].data.ptr;
		if (!w)
			continue;
		w->ready = l->batch[l->at].events;
		if (w->wake)
			w->wake(w);
	}
}
