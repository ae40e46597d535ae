#include "broker/broker.h"

#include "base/clock.h"
#include <fcntl.h>
#include <limits.h>

enum { FACTS_MAX_BYTES = 16 * 1024 * 1024 };

/* --- the loop ------------------------------------------------------------------------------ */

int broker_want(struct broker *b, struct watch *w, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = w};
	int change = !w->wanted ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	if (events == w->wanted)
		return 0;
	w->wanted = events;
	return epoll_ctl(b->epoll_fd, change, w->fd, &event);
}

/* One event: what it wakes may close and free whatever it likes. The kernel lets all that is ready
 * have its turn. While dials are under way libcurl's sockets are watched too. INT_MAX: nothing is
 * due, so that the kernel needs no timer. What the end of a dial makes due lies behind the
 * time-outs of those that are still under way.
 *
 * Whoever opens one connection after the other waits for our answers, and we for what comes next:
 * what can be done ahead or later is done then, one thing at a time. */
static void turn(struct broker *b)
{
	struct epoll_event event;
	bool free_hands = b->chores && b->dialer.under_way == 0;
	int64_t left_ms = free_hands ? 0 : b->wake_at_ms - clock_monotonic_ms();
	int timeout_ms = left_ms < 0 ? 0 : left_ms < INT_MAX ? (int)left_ms : INT_MAX;
	if (b->dialer.under_way > 0) {
		dialer_turn(&b->dialer, b->epoll_fd, timeout_ms);
		timeout_ms = 0;
	}
	if (epoll_wait(b->epoll_fd, &event, 1, timeout_ms < INT_MAX ? timeout_ms : -1) != 1) {
		if (free_hands)
			b->chores = channel_prepare(b) || connection_tidy(b) ||
				    dialer_prepare(&b->dialer);
		return;
	}
	struct watch *w = event.data.ptr;
	w->ready = event.events;
	if (w->wake)
		w->wake(w);
}

/* --- facts --------------------------------------------------------------------------------- */

/* Writes what can be written now. */
static void control_wake(struct watch *w)
{
	struct broker *b = w->owner;
	b->facts_lost |= (w->ready & EPOLLERR) != 0;
	while (!b->facts_lost && b->facts.len > 0) {
		ssize_t put = write(w->fd, b->facts.data, b->facts.len);
		if (put < 0 && errno == EAGAIN)
			return;
		b->facts_lost = put < 0 && errno != EINTR;
		buf_drop(&b->facts, put > 0 ? (size_t)put : 0);
	}
}

void broker_say(struct broker *b, json_t *line)
{
	if (b->control.fd >= 0) {
		b->facts_lost |=
			!line || json_write(&b->facts, line) < 0 || buf_addc(&b->facts, '\n') < 0;
		control_wake(&b->control);
	}
	json_decref(line);
}

static int control_open(struct broker *b, int fd, struct err *e)
{
	b->control = (struct watch){.fd = fd, .wake = control_wake, .owner = b};
	buf_init(&b->facts, FACTS_MAX_BYTES);
	if (fd < 0)
		return 0;
	int flags = fcntl(fd, F_GETFL);
	if ((flags & O_ACCMODE) == O_RDONLY || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_set(e, "--control %d is not open for writing", fd);
	/* A regular file is always writable, and epoll refuses it. */
	if (broker_want(b, &b->control, EPOLLOUT | EPOLLET) < 0 && errno != EPERM)
		return err_errno(e, "cannot watch --control %d", fd);
	return 0;
}

/* --- life ---------------------------------------------------------------------------------- */

int broker_open(struct broker *b, const struct options *options, struct err *e)
{
	*b = (struct broker){.options = options,
		.up_left = options->max_bytes,
		.agent.fd = -1,
		.listener.fd = -1,
		.pair = {-1, -1},
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.wake_at_ms = INT64_MAX,
		.linger_until_ms = INT64_MAX,
		.dialer = {
			.proxy = options->upstream_proxy, .done = connection_dialed, .socket = -1}};
	if (b->epoll_fd < 0)
		return err_errno(e, "cannot create an epoll instance");
	if (dialer_open(&b->dialer, e) < 0 || control_open(b, options->control_fd, e) < 0)
		return -1;
	for (size_t i = 0; i < options->channel_count; i++)
		if (channel_open(b, options->channels[i].fd, &options->channels[i].endpoint, e) < 0)
			return err_wrap(e, "--channel");
	if (options->proxy_fd >= 0 && channel_open(b, options->proxy_fd, NULL, e) < 0)
		return err_wrap(e, "--proxy");
	return 0;
}

int broker_serve(struct broker *b, struct err *e)
{
	while (!b->agent.ready && !b->facts_lost && b->open_channels + b->live_count > 0 &&
		clock_monotonic_ms() < b->linger_until_ms) {
		turn(b);
		connections_sweep(b, clock_monotonic_ms());
	}
	connections_sweep(b, INT64_MAX);
	return b->facts_lost ? err_set(e, "nobody takes the facts on --control any more") : 0;
}
