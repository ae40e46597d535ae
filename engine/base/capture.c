#include "base/capture.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/io.h"
#include <fcntl.h>
#include <signal.h>

struct running {
	struct child child;
	int out, err;
};

/* Reads once from a readable pipe; closes it at its end. Returns false for a read error, which is
 * no end. */
static bool drain(struct capture_stream *stream)
{
	char chunk[65536];
	ssize_t n = read(stream->fd, chunk, sizeof(chunk));
	if (n > 0)
		stream->take(stream->ctx, chunk, (size_t)n);
	else if (!n)
		own_close(&stream->fd);
	return n >= 0 || errno == EINTR || errno == EAGAIN;
}

int capture_streams(
	struct capture_stream *streams, int count, int64_t deadline_ms, const bool *full)
{
	for (;;) {
		struct pollfd watched[CAPTURE_STREAMS_MAX];
		int open = 0;
		for (int i = 0; i < count; i++) {
			watched[i] = (struct pollfd){streams[i].fd, POLLIN, 0};
			open += streams[i].fd >= 0;
		}
		int ready = open ? io_poll(watched, (nfds_t)count, deadline_ms) : 0;
		if (!open || ready <= 0)
			return !open ? 0 : ready ? EIO : ETIMEDOUT;
		for (int i = 0; i < count; i++)
			if (watched[i].revents && !drain(&streams[i]))
				return EIO;
		if (full && *full)
			return EFBIG;
	}
}

static void take(void *ctx, const char *bytes, size_t len)
{
	buf_add(ctx, bytes, len);
}

static int start(const struct capture_spec *spec, struct running *running, struct err *e)
{
	AUTO_FD int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out[2], err[2];
	if (null < 0)
		return err_errno(e, "cannot open /dev/null");
	if (pipe2(out, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	AUTO_FD int out_read = out[0], out_write = out[1];
	if (pipe2(err, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	AUTO_FD int err_read = err[0], err_write = err[1];
	int fds[3 + CAPTURE_MORE_MAX] = {
		spec->stdin_fd < 0 ? null : spec->stdin_fd, out_write, err_write};
	for (int i = 0; i < spec->more_count && i < CAPTURE_MORE_MAX; i++)
		fds[3 + i] = spec->more_fds[i];
	struct child_spec child = {.path = spec->argv[0],
		.argv = spec->argv,
		.env = spec->env,
		.fds = fds,
		.fd_count = 3 + spec->more_count,
		.own_session = spec->own_session};
	if (child_start(&child, &running->child, e))
		return -1;
	running->out = TAKE_FD(out_read);
	running->err = TAKE_FD(err_read);
	return 0;
}

/* Waits for the program's end: it may close its output and go on. */
static bool ended(const struct running *running, int64_t end)
{
	struct pollfd child = {running->child.pidfd, POLLIN, 0};
	return io_poll(&child, 1, end) > 0;
}

int capture_run(
	const struct capture_spec *spec, struct buf *out, struct buf *diagnostics, struct err *e)
{
	struct running r;
	if (start(spec, &r, e))
		return -1;
	int64_t end = clock_monotonic_ms() + spec->deadline_ms;
	struct capture_stream streams[] = {{r.out, take, out}, {r.err, take, diagnostics}};
	int cause = capture_streams(streams, 2, end, &out->failed);
	if (!cause && !ended(&r, end))
		cause = ETIMEDOUT;
	if (cause)
		kill(spec->own_session ? -r.child.pid : r.child.pid, SIGKILL);
	own_close(&streams[0].fd);
	own_close(&streams[1].fd);
	int status = child_wait(&r.child);
	if (!cause)
		return status;
	if (e)
		e->number = cause;
	return cause == ETIMEDOUT ? err_set(e, "%s did not end within %d seconds", spec->argv[0],
					    spec->deadline_ms / 1000)
	       : cause == EFBIG
		       ? err_set(e, "%s printed more than %zu bytes", spec->argv[0], out->cap_bytes)
		       : err_set(e, "the output of %s cannot be read", spec->argv[0]);
}
