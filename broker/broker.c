#include "broker/broker.h"

#include "base/clock.h"
#include "broker/connection.h"
#include <fcntl.h>

enum { DIALS_WAIT_MS = 1000, PIPE_BYTES = 1 << 20 };

int broker_open(struct broker *b, const struct options *options, uint64_t fd_limit, struct err *e)
{
	*b = (struct broker){.options = options,
		.up_left = options->max_bytes,
		.down_left = UINT64_MAX,
		.fd_limit = fd_limit,
		.agent.fd = -1,
		.loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.wake_at_ms = INT64_MAX,
		.linger_until_ms = INT64_MAX,
		.dialer = {.proxy = options->upstream_proxy, .done = connection_dialed}};
	if (b->loop.epoll_fd < 0 || pipe2(b->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_errno(e, "cannot create an epoll instance and a pipe");
	fcntl(b->pipe[1], F_SETPIPE_SZ, PIPE_BYTES); /* a block comes in small pieces */
	LIST_INIT(&b->live);
	if (dialer_open(&b->dialer, e) < 0 ||
		control_open(&b->control, &b->loop, options->control_fd, e) < 0)
		return -1;
	for (size_t i = 0; i < options->channel_count; i++)
		if (channel_open(b, options->channels[i].fd, &options->channels[i].endpoint, e) < 0)
			return err_wrap(e, "--channel");
	if (options->proxy_fd >= 0 && channel_open(b, options->proxy_fd, NULL, e) < 0)
		return err_wrap(e, "--proxy");
	return 0;
}

/* Until something happens. While dials are under way libcurl's sockets are watched too. */
static void wait_and_wake(struct broker *b)
{
	int64_t left_ms = b->wake_at_ms - clock_monotonic_ms();
	int timeout_ms = b->wake_at_ms == INT64_MAX ? -1 : left_ms > 0 ? (int)left_ms : 0;
	if (b->dialer.under_way > 0) {
		bool soon = timeout_ms >= 0 && timeout_ms < DIALS_WAIT_MS;
		dialer_wait(&b->dialer, b->loop.epoll_fd, soon ? timeout_ms : DIALS_WAIT_MS);
		timeout_ms = 0;
	}
	loop_turn(&b->loop, timeout_ms);
}

static bool is_over(const struct broker *b)
{
	bool lingered = clock_monotonic_ms() >= b->linger_until_ms;
	return b->agent.ready || b->control.lost ||
	       (b->open_channels == 0 && (b->live_count == 0 || lingered));
}

int broker_serve(struct broker *b, struct err *e)
{
	while (!is_over(b)) {
		wait_and_wake(b);
		dialer_turn(&b->dialer);
		connections_sweep(b, clock_monotonic_ms());
	}
	connections_sweep(b, INT64_MAX);
	return b->control.lost ? err_set(e, "nobody takes the facts on --control any more") : 0;
}
