#include "agent/tools/jailed.h"

#include "base/capture.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "contract/jail_order.h"
#include <fcntl.h>
#include <string.h>

enum {
	STREAMS = LAUNCHER_FDS - 1,
	GRACE_MS = 10 * 1000, /* the jail keeps the time-out; this is for one that hangs */
};

static int open_ends(struct capture_stream ours[STREAMS], int theirs[LAUNCHER_FDS], struct err *e)
{
	theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (theirs[0] < 0)
		return err_errno(e, "cannot open /dev/null");
	for (int i = 0; i < STREAMS; i++) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC))
			return err_errno(e, "cannot make a pipe");
		ours[i].fd = ends[0];
		theirs[1 + i] = ends[1];
	}
	return 0;
}

static int converse(struct launcher *launcher, const char *order, int64_t deadline_ms,
	struct jailed *out, struct err *e)
{
	struct output status;
	int theirs[LAUNCHER_FDS] = {-1, -1, -1, -1};
	struct capture_stream ours[STREAMS] = {{-1, output_take, &out->out},
		{-1, output_take, &out->err}, {-1, output_take, &status}};
	output_init(&status, LAUNCHER_STATUS_BYTES_MAX);
	int rc = open_ends(ours, theirs, e);
	rc = rc ? rc : launcher_order(launcher, order, strlen(order), theirs, e);
	if (rc > 0)
		rc = err_set(e, "the jail's launcher has ended");
	for (int i = 0; i < LAUNCHER_FDS; i++)
		own_close(&theirs[i]);
	if (!rc && capture_streams(ours, STREAMS, deadline_ms, NULL))
		launcher_kill(launcher);
	for (int i = 0; i < STREAMS; i++)
		own_close(&ours[i].fd);
	if (!rc)
		out->status = launcher_status(launcher, status.bytes, status.len);
	output_done(&status);
	return rc;
}

int jailed_run(struct launcher *launcher, const json_t *argv, int64_t timeout_secs,
	struct jailed *out, struct err *e)
{
	const struct jail_order order = {
		.argv = (json_t *)(uintptr_t)argv, .timeout_secs = timeout_secs};
	AUTO_FREE char *text = jail_order_text(&order);
	int64_t deadline_ms = clock_monotonic_ms() + timeout_secs * 1000 + GRACE_MS;
	*out = (struct jailed){.status.given = false};
	output_init(&out->out, JAILED_STREAM_BYTES);
	output_init(&out->err, JAILED_STREAM_BYTES);
	int rc = text ? converse(launcher, text, deadline_ms, out, e) : err_set(e, "out of memory");
	output_close(&out->out);
	output_close(&out->err);
	if (rc)
		jailed_done(out);
	return rc;
}

void jailed_done(struct jailed *jailed)
{
	output_done(&jailed->out);
	output_done(&jailed->err);
	jail_status_done(&jailed->status);
}

/* Appends text without a terminal's control sequences and broken characters. */
static void add_clean(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0, step; i < len; i += step) {
		uint32_t code;
		step = utf8_step(text + i, len - i, &code);
		if (!step || utf8_is_control(code))
			buf_adds(out, "\xef\xbf\xbd");
		else if (code != '\r')
			buf_add(out, text + i, step);
		step = step ? step : 1;
	}
}

void jailed_text(const struct output *output, struct buf *out)
{
	if (!output->total)
		return;
	add_clean(out, output->bytes, output->head);
	if (output->dropped)
		buf_addf(out, "\n[... %llu bytes dropped here ...]\n",
			(unsigned long long)output->dropped);
	add_clean(out, output->bytes + output->head, output->len - output->head);
}
