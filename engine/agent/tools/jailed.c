#include "agent/tools/jailed.h"

#include "base/clock.h"
#include "base/json.h"
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

enum {
	STREAMS = LAUNCHER_FDS - 1,
	GRACE_MS = 10 * 1000, /* the jail enforces the time-out; this is for one that hangs */
};

static bool drain(int fd, struct capture *c)
{
	char chunk[65536];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	if (n > 0)
		capture_add(c, chunk, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads all three streams to their ends; a full pipe never holds the command up. False: they have
 * none at the deadline. */
static bool collect(int fds[STREAMS], struct capture *const to[STREAMS], int64_t deadline_ms)
{
	for (int open_count = STREAMS; open_count;) {
		struct pollfd p[STREAMS];
		for (int i = 0; i < STREAMS; i++)
			p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
		int64_t left_ms = deadline_ms - clock_monotonic_ms();
		int wait_ms = left_ms > INT_MAX ? INT_MAX : (int)left_ms;
		if (left_ms <= 0 || (poll(p, STREAMS, wait_ms) < 0 && errno != EINTR))
			return false;
		for (int i = 0; i < STREAMS; i++)
			if (p[i].revents && fds[i] >= 0 && !drain(fds[i], to[i])) {
				own_close(&fds[i]);
				open_count--;
			}
	}
	return true;
}

static int open_ends(int ours[STREAMS], int theirs[LAUNCHER_FDS], struct err *e)
{
	theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (theirs[0] < 0)
		return err_errno(e, "cannot open /dev/null");
	for (int i = 0; i < STREAMS; i++) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC))
			return err_errno(e, "cannot make a pipe");
		ours[i] = ends[0];
		theirs[1 + i] = ends[1];
	}
	return 0;
}

static int converse(struct launcher *l, const char *order, int64_t deadline_ms, struct jailed *out,
	struct err *e)
{
	int ours[STREAMS] = {-1, -1, -1}, theirs[LAUNCHER_FDS] = {-1, -1, -1, -1};
	struct capture status;
	int rc = capture_init(&status) ? err_set(e, "out of memory") : open_ends(ours, theirs, e);
	rc = rc ? rc : launcher_order(l, order, strlen(order), theirs, e);
	if (rc > 0)
		rc = err_set(e, "the jail's launcher has ended");
	for (int i = 0; i < LAUNCHER_FDS; i++)
		own_close(&theirs[i]);
	struct capture *const to[] = {&out->out, &out->err, &status};
	if (!rc && !collect(ours, to, deadline_ms))
		launcher_kill(l);
	for (int i = 0; i < STREAMS; i++)
		own_close(&ours[i]);
	if (!rc)
		out->status = launcher_status(l, status.head.data, status.head.len);
	capture_done(&status);
	return rc;
}

int jailed_run(struct launcher *l, const json_t *argv, int64_t timeout_secs, struct jailed *out,
	struct err *e)
{
	json_auto_t *order =
		json_pack("{s:O, s:I}", "argv", argv, "timeout_secs", (json_int_t)timeout_secs);
	AUTO_FREE char *text = order ? json_text(order) : NULL;
	int64_t deadline_ms = clock_monotonic_ms() + timeout_secs * 1000 + GRACE_MS;
	*out = (struct jailed){.status = NULL};
	int rc = !text || capture_init(&out->out) || capture_init(&out->err)
			 ? err_set(e, "out of memory")
			 : converse(l, text, deadline_ms, out, e);
	if (rc)
		jailed_done(out);
	return rc;
}

void jailed_done(struct jailed *j)
{
	capture_done(&j->out);
	capture_done(&j->err);
	json_decref(j->status);
	j->status = NULL;
}
