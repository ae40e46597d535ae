/*
 * A program run to its end for what it prints: bounded output, a deadline, nothing left behind.
 */
#ifndef BASE_CAPTURE_H
#define BASE_CAPTURE_H
#include "base/buf.h"
#include "base/err.h"

enum { CAPTURE_MORE_MAX = 4 };

struct capture_spec {
	char *const *argv;   /* argv[0] is the path; no search */
	char *const *env;    /* the whole environment */
	int stdin_fd;        /* -1: /dev/null */
	const int *more_fds; /* become 3 and on */
	int more_count;      /* at most CAPTURE_MORE_MAX */
	int deadline_ms;
	bool own_session; /* away from the terminal; its whole group is killed at the deadline */
};

/* Appends what it prints to `out` (crossing its cap is an error) and to `diagnostics` (what exceeds
 * the cap is dropped). Returns the wait(2) status, or -1: it could not be started, printed too
 * much, did not end in time, or what it printed cannot be read. */
int capture_run(
	const struct capture_spec *spec, struct buf *out, struct buf *diagnostics, struct err *e);
#endif
