/*
 * The report of a run: one HTML page without a reference to the outside and without a script, so
 * that it works from disk, in a mail and in ten years.
 *
 * It is made in one pass over the journal's lines; what grows with the run (the steps and the bars
 * of the timeline) is HTML from the start.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H
#include "base/buf.h"
#include "machine/machine.h"
#include "report/summary.h"
#include "run/drive.h"

/* Everything a report is made from. */
struct report {
	/* Borrowed. */
	const struct machine *machine;
	const char *id;
	const char *digest;     /* of the bundle */
	const json_t *exposure; /* exposure_of */
	int dir_fd;             /* the instance's, for what its models said; -1: none */
	/* Owned. */
	struct summary summary;
	json_t *begin;   /* the journal's first line */
	json_t *edges;   /* "FROM\nTO": how often it was taken */
	json_t *egress;  /* ENDPOINT: {connections, up, down, refused: {WHY: N}} */
	uint64_t steps;  /* how many there will be; 0: unknown, all are shown */
	struct buf rows; /* the steps, as HTML: the first and the last of very many */
	size_t row_count;
	size_t gap_len, gap_rows; /* what there was before some were left out; 0: none were */
	json_t *before;           /* the blackboard behind the last row */
	json_t *failure;          /* the last line that did not go well; NULL: none */
	json_t *spans;            /* STATE: [began_us, ended_us, went well, ...] flat */
	json_t *autorun;          /* as a position has it; owned. NULL: nothing is known */
	struct drive_result result;
	char commits[256]; /* where those of a machine that writes code are; "": it made none */
};

/* A run of `machine` that has no lines yet; the rest of what is borrowed is the caller's to set. */
void report_init(struct report *report, const struct machine *machine, const char *id);
void report_done(struct report *report);
/* Adds a journal line of any type and the blackboard behind it. */
void report_line(struct report *report, const json_t *fields, const json_t *blackboard);
/* Adds what goes on in an agent state behind the last line of a run that has not ended. */
void report_unfinished(struct report *report);
/* The page. */
void report_html(const struct report *report, struct buf *out);
#endif
