#include "run/pump.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

enum { CHUNK_BYTES = 64 * 1024, DRAIN_CHUNKS = 64 /* more than a pipe can hold */ };

/* Reads once. 0: nothing more now; -1: an error, which does not end the stream. */
static int take_some(struct pump_stream *stream, struct err *e)
{
	char chunk[CHUNK_BYTES];
	ssize_t n = read(stream->fd, chunk, sizeof(chunk));
	if (n < 0 && errno == EINTR)
		return 1;
	if (n < 0)
		return errno == EAGAIN ? 0 : err_errno(e, "cannot read from a child process");
	if (n > 0) {
		stream->take(stream->ctx, chunk, (size_t)n);
		return 1;
	}
	own_close(&stream->fd);
	stream->take(stream->ctx, "", 0);
	return 0;
}

static void kill_child(struct pump *pump)
{
	if (pump->child->pid > 0)
		kill(pump->group ? -pump->child->pid : pump->child->pid, SIGKILL);
}

/* Reports whether the child must be killed: its deadline has passed, or somebody wants it to
 * end. */
static bool must_end(struct pump *pump)
{
	pump->late = pump->deadline_ms && clock_monotonic_ms() >= pump->deadline_ms;
	pump->interrupted = interrupts_kill(pump->interrupts);
	return pump->late || pump->interrupted || pump->stop;
}

static int poll_timeout(const struct pump *pump)
{
	int64_t left = pump->deadline_ms ? pump->deadline_ms - clock_monotonic_ms() : -1;
	if (pump->deadline_ms && left < 0)
		left = 0;
	if (left > 1000 * 3600)
		left = 1000 * 3600;
	if (pump->tick_ms && (left < 0 || left > pump->tick_ms))
		left = pump->tick_ms;
	return (int)left;
}

/* Waits once. Returns 1 if the child has ended. */
static int pump_once(struct pump *pump, struct err *e)
{
	struct pollfd fds[PUMP_STREAMS_MAX + 2];
	int n = pump->stream_count;
	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = pump->streams[i].fd, .events = POLLIN};
	fds[n] = (struct pollfd){.fd = pump->child->pidfd, .events = POLLIN};
	fds[n + 1] = (struct pollfd){.fd = pump->interrupts->fd, .events = POLLIN};
	int ready = poll(fds, (nfds_t)n + 2, poll_timeout(pump));
	if (ready < 0 && errno != EINTR)
		return err_errno(e, "cannot wait for a child process");
	if (ready == 0 && pump->tick)
		pump->tick(pump->ctx);
	if (ready <= 0)
		return 0;
	for (int i = 0; i < n; i++)
		if (fds[i].revents && pump->streams[i].fd == fds[i].fd &&
			take_some(&pump->streams[i], e) < 0)
			return -1;
	if (fds[n + 1].revents) {
		interrupts_read(pump->interrupts);
		if (pump->tick)
			pump->tick(pump->ctx);
	}
	return fds[n].revents || pump->ended;
}

/* Takes what is already in the pipes after the child's end, and closes them. */
static int drain(struct pump *pump, struct err *e)
{
	int more = 1, failed = 0;
	pump->draining = true;
	for (int i = 0; i < pump->stream_count; i++, more = 1) {
		struct pump_stream *s = &pump->streams[i];
		for (int n = 0; n < DRAIN_CHUNKS && s->fd >= 0 && more > 0; n++)
			more = take_some(s, e);
		failed |= more < 0;
		if (s->fd >= 0) {
			own_close(&s->fd);
			s->take(s->ctx, "", 0);
		}
	}
	return failed ? -1 : 0;
}

int pump_carry(struct pump *pump, struct err *e)
{
	int ended = 0;
	bool killed = false;
	for (int i = 0; i < pump->stream_count; i++)
		fcntl(pump->streams[i].fd, F_SETFL, O_NONBLOCK);
	while (!ended) {
		/* Check before the first wait, too: signals may have come before the child was
		 * started. */
		if (!killed && must_end(pump)) {
			killed = true;
			pump->deadline_ms = 0;
			kill_child(pump);
		}
		ended = pump_once(pump, e);
	}
	if (ended < 0)
		kill_child(pump);
	return drain(pump, e) || ended < 0 ? -1 : 0;
}

int pump_run(struct pump *pump, struct err *e)
{
	int failed = pump_carry(pump, e);
	pump->status = child_wait(pump->child);
	return failed;
}
