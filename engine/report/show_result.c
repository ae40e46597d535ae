/* Shows the end of a run: its outcome, its reason, and what can be done next. */
#include "report/show_private.h"

#include "base/clock.h"
#include "report/interface.h"
#include "report/text.h"

/* Adds the command that wakes it, with data of the form that the wait takes. */
static void add_poke(
	struct show *show, struct buf *line, const char *id, const struct drive_result *result)
{
	json_auto_t *poke = show->machine ? interface_poke(show->machine, result->state) : NULL;
	buf_addf(line, "\nWake it %s: ", result->wake_unix_us ? "earlier" : "up");
	interface_poke_command(poke, id, line);
	buf_adds(line, ", then the same command again");
}

static void add_wait(
	struct show *show, struct buf *line, const char *id, const struct drive_result *result)
{
	char wake[CLOCK_TEXT_BYTES];
	buf_addf(line, "\nIt waits in state %s ", result->state);
	if (result->wake_unix_us) {
		clock_text(result->wake_unix_us, wake);
		buf_adds(line, "until ");
		text_when(line, wake);
		buf_adds(line, "; the same command continues it then.");
	} else {
		buf_adds(line, "to be poked.");
	}
	if (show->id)
		add_poke(show, line, id, result);
}

/* Says so of a run that was stopped, to whoever ran it and to whoever watches it alike. */
static void add_parked(struct buf *line, const char *state)
{
	buf_adds(line, "It is parked before state ");
	text_clean(line, state, 64);
	buf_adds(line, "; running it again continues it.");
}

static void add_next(
	struct show *show, struct buf *line, const char *id, const struct drive_result *result)
{
	bool parked = result->status == RUN_STOPPED || result->status == RUN_INTERRUPTED ||
		      result->status == RUN_TERMINATED;
	if (parked && !show->thrown_away)
		buf_adds(line, "\n");
	if (show->thrown_away && (parked || result->status == RUN_WAITING))
		buf_addf(line, "\nIt %s state %s, and is thrown away; --dir DIR keeps a rehearsal.",
			parked ? "stopped before" : "waited in", result->state);
	else if (result->status == RUN_WAITING)
		add_wait(show, line, id, result);
	else if (parked)
		add_parked(line, result->state);
	else if (show->id && (result->status == RUN_FAILED || result->status == RUN_BUDGET))
		buf_addf(line, "\nSee why: agent6 machine report %s -o %s.html", id, id);
	if (show->id && result->already_ended)
		buf_addf(line,
			"\nRun it again: under another --id, or after agent6 machine prune %s", id);
}

/* Returns the reason, unless the next line says it better. */
static const char *reason_of(const struct drive_result *result)
{
	return result->status == RUN_WAITING || result->status == RUN_STOPPED ? "" : result->reason;
}

/* Adds ": 3 conversations sorted (17 steps, 5,032 in, 278 out tokens, $0.0064)". */
static void add_outcome(struct buf *out, const struct drive_result *result)
{
	if (*reason_of(result)) {
		buf_adds(out, ": ");
		text_clean(out, reason_of(result), 1000);
	}
	buf_addf(out, "  (%ju step%s", (uintmax_t)result->seq, result->seq == 1 ? "" : "s");
	show_retries(out, &result->totals, result->seq);
	size_t at = out->len;
	buf_adds(out, ", ");
	show_spend(out, &result->totals);
	if (out->len == at + 2)
		out->len = at;
	buf_adds(out, ")");
}

/* Writes "sort ended failed: no model (3 steps)", the only line for whoever starts runs from a
 * timer. */
void show_ended(struct show *show, const char *id, const struct drive_result *result)
{
	AUTO_BUF line = BUF_INIT(SHOW_LINE_BYTES_MAX);
	bool before = result->already_ended;
	show_erase(show);
	buf_addf(&line, "%s %s %s", id, before ? "had ended before:" : "ended",
		run_status_name(result->status));
	add_outcome(&line, result);
	if (before)
		add_next(show, &line, id, result);
	text_complain("%s", line.data);
}

void show_result(struct show *show, const char *id, const struct drive_result *result)
{
	AUTO_BUF line = BUF_INIT(SHOW_LINE_BYTES_MAX);
	show_erase(show);
	bool refused = result->status == RUN_REFUSED || result->status == RUN_NO_SANDBOX ||
		       result->status == RUN_DAMAGED || result->status == RUN_BROKEN;
	if (refused) {
		text_complain("%s", result->reason);
		return;
	}
	if (show->mode == SHOW_QUIET &&
		(result->status == RUN_FAILED || result->status == RUN_BUDGET))
		show_ended(show, id, result);
	if (show->mode == SHOW_JSON || show->mode == SHOW_QUIET)
		return;
	const char *colour = result->status == RUN_OK       ? "32"
			     : result->status == RUN_FAILED ? "31"
							    : "33";
	if (result->already_ended)
		buf_addf(&line, "%s had ended before: ", id);
	/* Only a replay ends without a status: it does not know whether somebody runs the
	 * instance. */
	show_paint(show, &line, colour,
		result->status == RUN_RUNNING ? "not ended" : run_status_name(result->status));
	add_outcome(&line, result);
	add_next(show, &line, id, result);
	show_print(show, &line);
}

static void show_stop(struct show *show, const struct line *line)
{
	AUTO_BUF out = BUF_INIT(SHOW_LINE_BYTES_MAX);
	add_parked(&out, line->state);
	show_print(show, &out);
}

void show_end(struct show *show, const char *id, const struct line *line)
{
	if (line->type == LINE_STOP)
		show_stop(show, line);
	if (line->type != LINE_END)
		return;
	struct drive_result r = {.status = line->end.status == OUTCOME_OK ? RUN_OK : RUN_FAILED,
		/* The end carries the number of the step that would have come. */
		.seq = line->seq > 0 ? (uint64_t)line->seq - 1 : 0,
		.totals = line->end.totals.sum};
	snprintf(r.reason, sizeof(r.reason), "%s", line->end.reason);
	show_result(show, id, &r);
}
