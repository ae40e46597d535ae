/*
 * The report of a run: one HTML page without a reference to the outside and without a script, so
 * that it works from disk, in a mail and in ten years.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H
#include "base/buf.h"
#include "cli/summary.h"
#include "machine/machine.h"
#include "run/drive.h"

/* Everything a report is made from. */
struct report {
	const struct machine *machine;
	const char *id;
	const char *digest;
	const char *confinement; /* plain text */
	struct summary summary;
	json_t *edges;   /* "FROM\nTO": how often it was taken */
	json_t *egress;  /* ENDPOINT: {connections, up, down, refused} */
	struct buf rows; /* the steps, as HTML */
	json_t *before;  /* the blackboard behind the last row */
	int64_t row_us;  /* time stamp of the last row */
	struct drive_result result;
};

void report_init(struct report *r, const struct machine *m, const char *id);
void report_done(struct report *r);
/* Adds a journal line of any type. */
void report_line(struct report *r, const json_t *fields);
/* Adds the row of a step, with what it changed on the blackboard. */
void report_step(struct report *r, const json_t *fields, const json_t *blackboard);
/* The page. */
void report_html(const struct report *r, struct buf *out);

/* The graph with the path taken, as inline SVG. */
void report_graph(const struct report *r, struct buf *out);
#endif
