#include "run/pump.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

enum { CHUNK_BYTES = 64 * 1024, DRAIN_CHUNKS = 64 /* more than a pipe can hold */ };

/* One read. 0: nothing more now; -1: it failed, which is no end. */
static int take_some(struct pump_stream *s, struct err *e)
{
	char chunk[CHUNK_BYTES];
	ssize_t n = read(s->fd, chunk, sizeof(chunk));
	if (n < 0 && errno == EINTR)
		return 1;
	if (n < 0)
		return errno == EAGAIN ? 0 : err_errno(e, "cannot read from a child process");
	if (n > 0) {
		s->take(s->ctx, chunk, (size_t)n);
		return 1;
	}
	own_close(&s->fd);
	s->take(s->ctx, "", 0);
	return 0;
}

static void kill_child(struct pump *p)
{
	if (p->child->pid > 0)
		kill(p->group ? -p->child->pid : p->child->pid, SIGKILL);
}

/* Whether the deadline has passed or a person wants it dead. */
static bool must_end(struct pump *p)
{
	p->late = p->deadline_ms && clock_monotonic_ms() >= p->deadline_ms;
	p->interrupted = interrupts_kill(p->interrupts);
	return p->late || p->interrupted || p->stop;
}

static int poll_timeout(const struct pump *p)
{
	int64_t left = p->deadline_ms ? p->deadline_ms - clock_monotonic_ms() : -1;
	if (p->deadline_ms && left < 0)
		left = 0;
	if (left > 1000 * 3600)
		left = 1000 * 3600;
	if (p->tick_ms && (left < 0 || left > p->tick_ms))
		left = p->tick_ms;
	return (int)left;
}

/* Waits once. 1: the child has ended. */
static int pump_once(struct pump *p, struct err *e)
{
	struct pollfd fds[PUMP_STREAMS_MAX + 2];
	int n = p->stream_count;
	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = p->streams[i].fd, .events = POLLIN};
	fds[n] = (struct pollfd){.fd = p->child->pidfd, .events = POLLIN};
	fds[n + 1] = (struct pollfd){.fd = p->interrupts->fd, .events = POLLIN};
	int ready = poll(fds, (nfds_t)n + 2, poll_timeout(p));
	if (ready < 0 && errno != EINTR)
		return err_errno(e, "cannot wait for a child process");
	if (ready == 0 && p->tick)
		p->tick(p->ctx);
	if (ready <= 0)
		return 0;
	for (int i = 0; i < n; i++)
		if (fds[i].revents && p->streams[i].fd == fds[i].fd &&
			take_some(&p->streams[i], e) < 0)
			return -1;
	if (fds[n + 1].revents) {
		interrupts_read(p->interrupts);
		if (p->tick)
			p->tick(p->ctx);
	}
	return fds[n].revents || p->ended;
}

/* Beyond the child's end only what is already in the pipes counts. */
static int drain(struct pump *p, struct err *e)
{
	int more = 1, failed = 0;
	p->draining = true;
	for (int i = 0; i < p->stream_count; i++, more = 1) {
		struct pump_stream *s = &p->streams[i];
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

int pump_carry(struct pump *p, struct err *e)
{
	int ended = 0;
	bool killed = false;
	for (int i = 0; i < p->stream_count; i++)
		fcntl(p->streams[i].fd, F_SETFL, O_NONBLOCK);
	while (!ended) {
		/* Before the first wait, too: the signals may have come before the child. */
		if (!killed && must_end(p)) {
			killed = true;
			p->deadline_ms = 0;
			kill_child(p);
		}
		ended = pump_once(p, e);
	}
	if (ended < 0)
		kill_child(p);
	return drain(p, e) || ended < 0 ? -1 : 0;
}

int pump_run(struct pump *p, struct err *e)
{
	int failed = pump_carry(p, e);
	p->status = child_wait(p->child);
	return failed;
}
