/*
 * What a person sees of a run: journal lines as plain lines, one live line on a terminal.
 *
 * The same lines serve `machine run`, `rehearse`, `watch` and `replay`: whatever is shown comes
 * from journal lines, so that it reads the same live and afterwards.
 */
#ifndef REPORT_SHOW_H
#define REPORT_SHOW_H
#include "base/buf.h"
#include "run/drive.h"
#include <stdio.h>

enum show_mode { SHOW_PLAIN, SHOW_LIVE, SHOW_JSON, SHOW_QUIET };

struct show {
	enum show_mode mode;
	bool quiet; /* no notices; with SHOW_JSON the lines are all there is */
	bool colour;
	int64_t last_us;     /* time stamp of the newest line */
	size_t live_columns; /* of the live line, which is the terminal's last; 0: there is none */
	int terminal_fd;     /* where questions are asked; -1: nowhere. Owned */
	const char *id;      /* what other commands call this instance; NULL: they do not find it */
	bool thrown_away;    /* nothing is left of it to be continued */
};

/* From what was asked for, NO_COLOR, TERM and whether stdout is a terminal. */
void show_init(struct show *show, bool json, bool quiet);
/* Whether a person reads along: neither --json nor --quiet was asked for. */
static inline bool show_tells(const struct show *show)
{
	return show->mode == SHOW_PLAIN || show->mode == SHOW_LIVE;
}
/* Whether a person can be asked at this process's terminal: then the listener asks there, and
 * `show_done` lets the terminal go. Questions are shown whatever the mode. */
void show_terminal(struct show *show);
void show_done(struct show *show);
/* A listener that shows; `show` must outlive it. */
struct drive_listener show_listener(struct show *show);

/* One journal line (`fields`: decoded) as a person reads it; nothing for lines that only machines
 * need. */
void show_event(struct show *show, const json_t *fields);
/* Draws the live line, until the next line takes its place; "": none. Only on a terminal. */
void show_live(struct show *show, const char *text);
/* Appends until when a wait waits (0: until it is poked) and, where the terminal has room for it,
 * the command that wakes it. */
void show_until(const struct show *show, struct buf *line, int64_t wake_unix_us);
/* How it ended or where it stands, in one or two lines, with what to do next. Refusals go to
 * stderr. */
void show_result(struct show *show, const char *id, const struct drive_result *result);
/* On stderr, how it ended, or had ended before this start, which is then refused. */
void show_ended(struct show *show, const char *id, const struct drive_result *result);
/* What an agent asks and how it is answered; -1: `doc` is no question. */
int show_question(struct buf *out, const char *id, const json_t *doc);
/* The same from the line that a run leaves last, end or stop, for whoever only reads along. */
void show_end(struct show *show, const char *id, const json_t *fields);
/* Why the step or attempt of this journal line is not ok, "  exit 2  make: *** [all] Error 2";
 * nothing when it is, or does not say. */
void show_failure(struct buf *out, const json_t *fields);
/* Totals as the journal and a status have them. */
struct totals show_totals(const json_t *totals);
/* ", 6 retries": what counts against max_transitions beside the steps; nothing where there are
 * none. */
void show_retries(struct buf *out, const struct totals *totals, uint64_t steps);
/* "$0.0012 and unpriced", "$0.0012 by estimate"; nothing when nothing was used. */
void show_cost(struct buf *out, const struct totals *totals);
/* "1,204 in, 88 out tokens, $0.0012"; nothing when nothing was used. */
void show_spend(struct buf *out, const struct totals *totals);
/* The same where there is little room: "  1,204+88 tokens, $0.0012". */
void show_spend_short(struct buf *line, const struct totals *totals);
#endif
