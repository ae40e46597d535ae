#include "instance/snapshot.h"
#include "machine/kind.h"
#include "run/drive_private.h"

#include <stdarg.h>
#include <stdio.h>

enum { SNAPSHOT_MS = 1000, QUEUE_BYTES_MAX = 256 * 1024 };

bool drive_end(struct drive *drive, enum run_status status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	drive->result->status = status;
	vsnprintf(drive->result->reason, sizeof(drive->result->reason), format, args);
	va_end(args);
	return false;
}

struct line drive_line(const struct drive *drive, enum line_type type, char ts[CLOCK_TEXT_BYTES])
{
	clock_text(clock_realtime_us(), ts);
	return (struct line){.type = type,
		.ts = ts,
		.seq = (int64_t)drive->at.seq + 1,
		.state = drive->at.state->name,
		.attempt = drive->at.attempt};
}

void drive_snapshot(struct drive *drive)
{
	struct err e = ERR_NONE;
	if (drive->journal.broken || drive->journal.pending.len)
		return; /* the position in memory is ahead of the journal */
	drive->snapshot_ms = clock_monotonic_ms();
	if (snapshot_write(drive->instance, &drive->at, &drive->journal.end, &e))
		live_notice(&drive->live, "%s", e.text);
}

/* Applies the event to a copy of the position: a line that could not be replayed is never
 * written. */
static bool try_event(struct drive *drive, const json_t *event, struct position *trial)
{
	struct err e = ERR_NONE;
	position_copy(trial, &drive->at);
	if (position_apply_event(trial, event, &e) == 0)
		return true;
	position_done(trial);
	return drive_end(drive, RUN_BROKEN, "this step cannot be journaled: %s", e.text);
}

static void adopt(struct drive *drive, struct position *trial)
{
	position_done(&drive->at);
	drive->at = *trial;
}

/* Uses the time that the disk takes for the line: starts the first jail of the next tool state, or
 * the end of the last jails. */
static void meanwhile(struct drive *drive, const struct position *next)
{
	bool tool = state_is(next->state, TRAIT_COMMAND) && !next->ended && !next->retry_at_us &&
		    !position_exhausted(next) &&
		    !confine_is_recorded(&drive->env.confine, next->state);
	if (state_is(next->state, TRAIT_ENDS))
		jails_retire(&drive->live.jails);
	if (!tool || !jails_none(&drive->live.jails))
		return;
	AUTO_JAIL_POLICY policy = confine_policy(&drive->env.confine, next->state);
	live_ahead(&drive->live, &policy);
}

int drive_hold(struct drive *drive, struct err *e)
{
	static const char name[] = "journal.jsonl";
	if (!instance_kept(drive->instance, e) &&
		!instance_holds(drive->instance, name, drive->journal.fd, e) &&
		journal_intact(&drive->journal))
		return 0;
	instance_lost(drive->instance, name, "cut short", e); /* keeps an earlier cause */
	journal_abandon(&drive->journal);
	return -1;
}

bool drive_commit(struct drive *drive, const struct line *line)
{
	json_auto_t *event = line_encode(line);
	struct position trial;
	struct err e = ERR_NONE;
	if (drive_hold(drive, &e))
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	if (!try_event(drive, event, &trial))
		return false;
	meanwhile(drive, &trial);
	if (journal_commit(&drive->journal, event, &e)) {
		position_done(&trial);
		return drive_end(drive, RUN_BROKEN,
			"%s: %s; the last step is not committed, everything before it is; run it "
			"again when this is repaired",
			drive->instance->path, e.text);
	}
	adopt(drive, &trial);
	int64_t now_ms = clock_monotonic_ms();
	if (!drive->snapshot_ms)
		drive->snapshot_ms = now_ms; /* the line needs two syncs; add no third */
	else if (now_ms - drive->snapshot_ms >= SNAPSHOT_MS)
		drive_snapshot(drive);
	return true;
}

bool drive_queue(struct drive *drive, const struct line *line)
{
	json_auto_t *event = line_encode(line);
	struct position trial;
	struct err e = ERR_NONE;
	if (drive->journal.pending.len > QUEUE_BYTES_MAX)
		return drive_commit(drive, line);
	if (!try_event(drive, event, &trial))
		return false;
	if (journal_queue(&drive->journal, event, &e)) {
		position_done(&trial);
		return drive_end(drive, RUN_BROKEN, "%s", e.text);
	}
	adopt(drive, &trial);
	return true;
}
