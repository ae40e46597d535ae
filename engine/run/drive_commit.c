#include "base/clock.h"
#include "instance/snapshot.h"
#include "run/drive_inside.h"

#include <stdarg.h>
#include <stdio.h>

enum { SNAPSHOT_MS = 1000, QUEUE_BYTES_MAX = 256 * 1024 };

bool drive_end(struct drive *d, enum run_status status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	d->result->status = status;
	vsnprintf(d->result->reason, sizeof(d->result->reason), format, args);
	va_end(args);
	return false;
}

json_t *drive_event(const struct drive *d, const char *type)
{
	char ts[CLOCK_TEXT_BYTES];
	clock_text(clock_realtime_us(), ts);
	return json_pack("{s:s,s:s,s:I,s:s}", "t", type, "ts", ts, "seq", (json_int_t)d->at.seq + 1,
		"state", d->at.state->name);
}

void drive_snapshot(struct drive *d)
{
	struct err e = ERR_NONE;
	if (d->journal.broken || d->journal.pending.len)
		return; /* the position is ahead of what is durable */
	d->snapshot_ms = clock_monotonic_ms();
	if (snapshot_write(d->instance, &d->at, &d->journal.end, &e))
		live_notice(&d->live, "%s", e.text);
}

/* A fact that could not be replayed is never written. */
static bool try_event(struct drive *d, const json_t *event, struct position *trial)
{
	struct err e = ERR_NONE;
	position_copy(trial, &d->at);
	if (position_apply(trial, event, &e) == 0)
		return true;
	position_done(trial);
	return drive_end(d, RUN_BROKEN, "this step cannot be journaled: %s", e.text);
}

static void adopt(struct drive *d, struct position *trial)
{
	position_done(&d->at);
	d->at = *trial;
}

/* Some work takes as long as the disk does: the first jail of the tool state that comes next, and
 * the end of the last ones. */
static void meanwhile(struct drive *d, const struct position *next)
{
	bool tool = next->state->kind == KIND_TOOL && !next->ended && !next->retry_at_us;
	if (next->state->kind == KIND_TERMINAL)
		jails_retire(&d->live.jails);
	if (!tool || !jails_none(&d->live.jails))
		return;
	json_auto_t *policy = confine_policy(&d->env.confine, next->state);
	live_ahead(&d->live, policy);
}

int drive_hold(struct drive *d, struct err *e)
{
	static const char name[] = "journal.jsonl";
	if (!instance_kept(d->instance, e) &&
		!instance_holds(d->instance, name, d->journal.fd, e) && journal_intact(&d->journal))
		return 0;
	instance_lost(d->instance, name, "cut short", e); /* the first cause wins */
	journal_abandon(&d->journal);
	return -1;
}

bool drive_commit(struct drive *d, json_t *event)
{
	json_auto_t *owned = event;
	struct position trial;
	struct err e = ERR_NONE;
	if (drive_hold(d, &e))
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	if (!try_event(d, owned, &trial))
		return false;
	meanwhile(d, &trial);
	if (journal_commit(&d->journal, owned, &e)) {
		position_done(&trial);
		return drive_end(d, RUN_BROKEN,
			"%s: %s; the last step is not committed, everything before it is; run it "
			"again when this is repaired",
			d->instance->path, e.text);
	}
	adopt(d, &trial);
	int64_t now_ms = clock_monotonic_ms();
	if (!d->snapshot_ms)
		d->snapshot_ms = now_ms; /* two syncs, for one line */
	else if (now_ms - d->snapshot_ms >= SNAPSHOT_MS)
		drive_snapshot(d);
	return true;
}

bool drive_queue(struct drive *d, json_t *event)
{
	json_auto_t *owned = event;
	struct position trial;
	struct err e = ERR_NONE;
	if (d->journal.pending.len > QUEUE_BYTES_MAX)
		return drive_commit(d, json_incref(owned));
	if (!try_event(d, owned, &trial))
		return false;
	if (journal_queue(&d->journal, owned, &e)) {
		position_done(&trial);
		return drive_end(d, RUN_BROKEN, "%s", e.text);
	}
	adopt(d, &trial);
	return true;
}
