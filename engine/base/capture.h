/*
 * Capture: runs a program to its end for its output, which is bounded, with a deadline and no
 * process left behind.
 */
#ifndef BASE_CAPTURE_H
#define BASE_CAPTURE_H
#include "base/buf.h"
#include "base/err.h"

enum { CAPTURE_MORE_MAX = 4, CAPTURE_STREAMS_MAX = 3 };

/* A pipe that is read to its end. */
struct capture_stream {
	int fd; /* owned; -1 when it has ended */
	void (*take)(void *ctx, const char *bytes, size_t len);
	void *ctx;
};

/* Reads all streams to their ends, so that a full pipe never blocks a writer, and closes each
 * there. Returns 0, or the cause: ETIMEDOUT at `deadline_ms` (monotonic), EIO, or EFBIG when a
 * taker has set `*full` (NULL: none does). */
int capture_streams(
	struct capture_stream *streams, int count, int64_t deadline_ms, const bool *full);

struct capture_spec {
	char *const *argv;   /* argv[0] is the path; no search */
	char *const *env;    /* the whole environment */
	int stdin_fd;        /* -1: /dev/null */
	const int *more_fds; /* become descriptors 3 and on */
	int more_count;      /* at most CAPTURE_MORE_MAX */
	int deadline_ms;
	/* Detached from the terminal; its whole group is killed at the deadline. */
	bool own_session;
};

/* Appends the program's output to `out` (crossing its cap is an error) and its stderr to
 * `diagnostics` (beyond the cap it is dropped). Returns the wait(2) status, or -1 with
 * e->number: ETIMEDOUT (it did not end in time), EFBIG (it printed too much), EIO (its output
 * cannot be read), or the cause why it could not be started. */
int capture_run(
	const struct capture_spec *spec, struct buf *out, struct buf *diagnostics, struct err *e);
#endif
