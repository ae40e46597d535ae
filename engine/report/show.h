/*
 * Shows a run to a person: journal lines as plain lines, and one live line on a terminal.
 *
 * `machine run`, `rehearse`, `watch` and `replay` share these lines. Everything shown comes from
 * journal lines, so that it reads the same live and afterwards.
 */
#ifndef REPORT_SHOW_H
#define REPORT_SHOW_H
#include "base/buf.h"
#include "run/drive.h"
#include <stdio.h>

enum show_mode { SHOW_PLAIN, SHOW_LIVE, SHOW_JSON, SHOW_QUIET };

struct show {
	enum show_mode mode;
	bool quiet; /* no notices; with SHOW_JSON only the lines */
	bool colour;
	int64_t last_us;     /* time stamp of the newest line */
	size_t live_columns; /* columns of the live line, the terminal's last; 0: there is none */
	int terminal_fd;     /* for questions; owned; -1: none */
	/* The name of the instance for other commands; NULL: they cannot find it. */
	const char *id;
	bool thrown_away;              /* the instance is removed and cannot be continued */
	const struct machine *machine; /* NULL: it is not known which form of poke a wait takes */
};

/* Begins, by the options given, NO_COLOR, TERM and whether stdout is a terminal. */
void show_init(struct show *show, bool json, bool quiet);
/* Reports whether a person reads along: neither --json nor --quiet was given. */
static inline bool show_tells(const struct show *show)
{
	return show->mode == SHOW_PLAIN || show->mode == SHOW_LIVE;
}
/* Opens this process's terminal for questions, if it has one; the listener then asks there, and
 * `show_done` closes it. Questions are shown in every mode. */
void show_terminal(struct show *show);
void show_done(struct show *show);
/* Returns a listener that shows; `show` must outlive it. */
struct drive_listener show_listener(struct show *show);

/* Shows one journal line to a person; nothing for lines that only programs need. */
void show_event(struct show *show, const struct line *line);
/* Draws the live line, until the next line replaces it; "": none. Only on a terminal. */
void show_live(struct show *show, const char *text);
/* Appends how long a wait waits (0: until it is poked) and, if the terminal has room, the command
 * that wakes it. */
void show_until(const struct show *show, struct buf *line, int64_t wake_unix_us);
/* Shows in one or two lines how it ended or where it stands, and what to do next. Refusals go to
 * stderr. */
void show_result(struct show *show, const char *id, const struct drive_result *result);
/* Shows on stderr how it ended, or had ended before this start, which is then refused. */
void show_ended(struct show *show, const char *id, const struct drive_result *result);
/* Appends an agent's question and how to answer it. Returns -1 if `doc` is no question. */
int show_question(struct buf *out, const char *id, const json_t *doc);
/* Shows the same from a run's last line, end or stop, for those who only watch. */
void show_end(struct show *show, const char *id, const struct line *line);
/* Appends why the step or attempt of this journal line failed, " exit 2 make: *** [all] Error 2";
 * nothing if it did not, or does not say. */
void show_failure(struct buf *out, const struct line *line);
/* Returns the totals from a journal or a status. */
struct totals show_totals(const json_t *totals);
/* Appends ", 6 retries", which count against max_transitions like steps; nothing if there are
 * none. */
void show_retries(struct buf *out, const struct totals *totals, uint64_t steps);
/* Appends "$0.0012 and unpriced", "$0.0012 by estimate"; nothing if nothing was used. */
void show_cost(struct buf *out, const struct totals *totals);
/* Appends "1,204 in, 88 out tokens, $0.0012"; nothing if nothing was used. */
void show_spend(struct buf *out, const struct totals *totals);
/* Appends the short form: " 1,204+88 tokens, $0.0012". */
void show_spend_short(struct buf *line, const struct totals *totals);
#endif
