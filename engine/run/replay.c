#include "run/replay.h"

#include "instance/recover.h"
#include "instance/snapshot.h"

struct replay {
	const struct replay_request *request;
	const struct position *snapshot; /* NULL: none to compare with */
	char fault[256];
};

/* Compares with the snapshot, which the live run wrote: the journal alone must lead to the same
 * blackboard. */
static void compare(struct replay *replay, const struct position *position)
{
	if (replay->snapshot && position->seq == replay->snapshot->seq && !position->ended &&
		!json_equal(position->blackboard, replay->snapshot->blackboard))
		snprintf(replay->fault, sizeof(replay->fault),
			"step %llu: the blackboard of the snapshot is another one than the journal "
			"gives",
			(unsigned long long)position->seq);
}

static bool each_line(void *ctx, const struct line *line, const struct position *position)
{
	struct replay *r = ctx;
	if (r->request->line)
		r->request->line(r->request->ctx, line, position->blackboard);
	if (line->type == LINE_STEP)
		compare(r, position);
	return *r->fault || position->seq >= r->request->to_seq;
}

static enum run_status status_of(const struct position *position)
{
	if (!position->ended)
		return RUN_RUNNING;
	if (position->ended_ok)
		return RUN_OK;
	return position->cause == END_BUDGET ? RUN_BUDGET : RUN_FAILED;
}

static void fill(const struct position *position, struct drive_result *out)
{
	out->status = status_of(position);
	out->already_ended = position->ended;
	snprintf(out->state, sizeof(out->state), "%s", position->state->name);
	snprintf(out->reason, sizeof(out->reason), "%s", position->reason);
	out->seq = position->seq;
	out->wake_unix_us = position->wake_us;
	out->totals = position->totals;
}

int replay_run(const struct instance *instance, const struct replay_request *request,
	struct drive_result *out, json_t **blackboard, struct err *e)
{
	AUTO_FD int fd = instance_journal(instance, e);
	if (fd < 0)
		return -1;
	struct position snapshot = {0};
	struct journal_mark mark;
	bool has_snapshot = !request->foreign &&
			    snapshot_read(instance, request->machine, fd, &snapshot, &mark);
	struct replay r = {request, has_snapshot ? &snapshot : NULL, ""};
	struct recovery all = {.instance = instance,
		.machine = request->machine,
		.fd = fd,
		.snapshot_bytes = -1,
		.foreign = request->foreign,
		.patience_ms = JOURNAL_PATIENCE_MS,
		.each = each_line,
		.ctx = &r};
	*out = (struct drive_result){.status = RUN_DAMAGED};
	enum recover_end end = recover(&all, e);
	position_done(&snapshot);
	if (end == RECOVER_DONE && *r.fault) {
		err_set(e, "%s", r.fault);
		end = RECOVER_DAMAGED;
	}
	if (end == RECOVER_DONE) {
		fill(&all.position, out);
		*blackboard = json_incref(all.position.blackboard);
	}
	position_done(&all.position);
	return end == RECOVER_DONE ? 0 : -1;
}

int replay_verify(const struct instance *instance, uint64_t *lines, struct err *e)
{
	AUTO_FD int fd = instance_journal(instance, e);
	struct journal_mark start = journal_start();
	struct journal_reader reader;
	struct holder who;
	struct err why = ERR_NONE;
	if (fd < 0 || instance_holder(instance, &who, e))
		return -1;
	journal_reader_init(&reader, fd, &start);
	reader.patience_ms = who.pid ? JOURNAL_PATIENCE_MS : 0;
	const char *line;
	size_t len;
	int got;
	while ((got = journal_next(&reader, &line, &len, &why)) > 0)
		continue;
	*lines = reader.mark.lines;
	int64_t torn = reader.torn_bytes;
	journal_reader_done(&reader);
	/* While a runner holds the instance, it may be about to finish the last line. */
	if (got)
		err_set(e, "%s%s", why.text, why.number ? "" : RECOVER_HOW_ON);
	else if (who.pid || (!recover_whole(instance, fd, *lines + (torn > 0), e) && !torn))
		return 0;
	else if (torn)
		err_set(e,
			"journal.jsonl, line %llu: unfinished, %lld bytes; resuming the instance "
			"drops it",
			(unsigned long long)*lines + 1, (long long)torn);
	return err_wrap(e, "%s", instance->path);
}
