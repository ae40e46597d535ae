#include "broker/broker.h"

#include "base/clock.h"
#include <fcntl.h>
#include <limits.h>

enum { FACTS_MAX_BYTES = 16 * 1024 * 1024 };

/* --- the loop ------------------------------------------------------------------------------ */

int broker_want(struct broker *broker, struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	int change = !watch->wanted ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	if (events == watch->wanted)
		return 0;
	watch->wanted = events;
	return epoll_ctl(broker->epoll_fd, change, watch->fd, &event);
}

/* Handles one event; its handler may close and free anything. The kernel gives every ready
 * descriptor its turn. While dials are under way libcurl's sockets are watched too. INT_MAX:
 * nothing is due, so the kernel needs no timer. Work that follows a dial is due after the time-outs
 * of the dials still under way.
 *
 * A client that opens one connection after another waits for our answer, and we for its next
 * request: work that can be done ahead or later is done while we wait, one piece at a time. */
static void turn(struct broker *broker)
{
	struct epoll_event event;
	bool free_hands = broker->chores && broker->dialer.under_way == 0;
	int64_t left_ms = free_hands ? 0 : broker->wake_at_ms - clock_monotonic_ms();
	int timeout_ms = left_ms < 0 ? 0 : left_ms < INT_MAX ? (int)left_ms : INT_MAX;
	if (broker->dialer.under_way > 0) {
		dialer_turn(&broker->dialer, broker->epoll_fd, timeout_ms);
		timeout_ms = 0;
	}
	if (epoll_wait(broker->epoll_fd, &event, 1, timeout_ms < INT_MAX ? timeout_ms : -1) != 1) {
		if (free_hands)
			broker->chores = channel_prepare(broker) || connection_tidy(broker) ||
					 dialer_prepare(&broker->dialer);
		return;
	}
	struct watch *w = event.data.ptr;
	w->ready = event.events;
	if (w->wake)
		w->wake(w);
}

/* --- facts --------------------------------------------------------------------------------- */

/* Writes as many facts as the pipe takes now. */
static void control_wake(struct watch *watch)
{
	struct broker *b = watch->owner;
	b->facts_lost |= (watch->ready & EPOLLERR) != 0;
	while (!b->facts_lost && b->facts.len > 0) {
		ssize_t put = write(watch->fd, b->facts.data, b->facts.len);
		if (put < 0 && errno == EAGAIN)
			return;
		b->facts_lost = put < 0 && errno != EINTR;
		buf_drop(&b->facts, put > 0 ? (size_t)put : 0);
	}
}

void broker_say(struct broker *broker, json_t *line)
{
	if (broker->control.fd >= 0) {
		broker->facts_lost |= !line || json_write(&broker->facts, line) < 0 ||
				      buf_addc(&broker->facts, '\n') < 0;
		control_wake(&broker->control);
	}
	json_decref(line);
}

static int control_open(struct broker *broker, int fd, struct err *e)
{
	broker->control = (struct watch){.fd = fd, .wake = control_wake, .owner = broker};
	buf_init(&broker->facts, FACTS_MAX_BYTES);
	if (fd < 0)
		return 0;
	int flags = fcntl(fd, F_GETFL);
	if ((flags & O_ACCMODE) == O_RDONLY || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_set(e, "--control %d is not open for writing", fd);
	/* A regular file is always writable, and epoll refuses it. */
	if (broker_want(broker, &broker->control, EPOLLOUT | EPOLLET) < 0 && errno != EPERM)
		return err_errno(e, "cannot watch --control %d", fd);
	return 0;
}

/* --- life ---------------------------------------------------------------------------------- */

int broker_open(struct broker *broker, const struct options *options, struct err *e)
{
	*broker = (struct broker){.options = options,
		.up_left = options->max_bytes,
		.agent.fd = -1,
		.listener.fd = -1,
		.pair = {-1, -1},
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.wake_at_ms = INT64_MAX,
		.linger_until_ms = INT64_MAX,
		.dialer = {
			.proxy = options->upstream_proxy, .done = connection_dialed, .socket = -1}};
	if (broker->epoll_fd < 0)
		return err_errno(e, "cannot create an epoll instance");
	if (dialer_open(&broker->dialer, e) < 0 || control_open(broker, options->control_fd, e) < 0)
		return -1;
	for (size_t i = 0; i < options->channel_count; i++)
		if (channel_open(
			    broker, options->channels[i].fd, &options->channels[i].endpoint, e) < 0)
			return err_wrap(e, "--channel");
	if (options->proxy_fd >= 0 && channel_open(broker, options->proxy_fd, NULL, e) < 0)
		return err_wrap(e, "--proxy");
	return 0;
}

int broker_serve(struct broker *broker, struct err *e)
{
	while (!broker->agent.ready && !broker->facts_lost &&
		broker->open_channels + broker->live_count > 0 &&
		clock_monotonic_ms() < broker->linger_until_ms) {
		turn(broker);
		connections_sweep(broker, clock_monotonic_ms());
	}
	connections_sweep(broker, INT64_MAX);
	return broker->facts_lost ? err_set(e, "nobody takes the facts on --control any more") : 0;
}
