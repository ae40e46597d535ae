/*
 * The report of a run: one HTML page without external references and scripts, so that it works from
 * disk, in a mail and in ten years.
 *
 * It is made in one pass over the journal's lines. The parts that grow with the run (the steps and
 * the bars of the timeline) are HTML from the start.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H
#include "base/buf.h"
#include "machine/machine.h"
#include "report/summary.h"
#include "run/drive.h"

/* The data of a report. */
struct report {
	/* Borrowed. */
	const struct machine *machine;
	const char *id;
	const char *digest;     /* of the bundle */
	const json_t *exposure; /* exposure_of */
	int dir_fd;             /* the instance's, for the models' messages; -1: none */
	/* Owned. */
	struct summary summary;
	json_t *begin;   /* the journal's first line */
	json_t *edges;   /* "FROM\nTO": how often the edge was taken */
	json_t *egress;  /* ENDPOINT: {connections, up, down, refused: {WHY: N}} */
	uint64_t steps;  /* number of steps in all; 0: unknown, all are shown */
	struct buf rows; /* the steps, as HTML: the first and the last of very many */
	size_t row_count;
	size_t gap_len, gap_rows; /* where steps were left out, and how many; 0: none were */
	json_t *before;           /* the blackboard after the last row */
	json_t *failure;          /* the last line with a failure; NULL: none */
	json_t *spans;            /* STATE: [began_us, ended_us, succeeded, ...] flat */
	json_t *repositories;     /* repositories_collect; owned */
	json_t *data;             /* data_repositories; owned; NULL: there is none */
	json_t *aside;            /* moved_aside_list; owned; NULL: there is none */
	json_t *autorun;          /* as in a position; owned; NULL: nothing is known */
	struct drive_result result;
	/* The place of the commits of a machine that writes code; "": it made none. */
	char commits[256];
};

/* Begins a report on `machine` without lines; the caller sets the rest of the borrowed members. */
void report_init(struct report *report, const struct machine *machine, const char *id);
void report_done(struct report *report);
/* Adds a journal line of any type and the blackboard after it. */
void report_line(struct report *report, const struct line *line, const json_t *blackboard);
/* Adds the agent state that a run without an end is in after its last line. */
void report_unfinished(struct report *report);
/* Writes the page. */
void report_html(const struct report *report, struct buf *out);
#endif
