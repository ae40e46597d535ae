/*
 * The parts of a report's page, one file each; report.c puts them together.
 */
#ifndef REPORT_REPORT_PRIVATE_H
#define REPORT_REPORT_PRIVATE_H
#include "report/report.h"

/* Reports whether a line's label is neither a failure nor a time-out. */
bool report_went_well(const struct line *line);
/* Appends the reason of such a line: "exit 2: make: *** [all] Error 2". */
void report_reason(struct buf *out, const struct line *line);
/* Adds the conversation of an execution that left a transcript; else nothing. */
void report_talk(struct report *report, uint64_t seq, const char *state);
/* Adds a step as a row of the table. */
void report_row(struct report *report, const struct line *line, const json_t *blackboard);
/* Write the contents of one section each, below its heading. */
void report_graph(const struct report *report, struct buf *out);
void report_timeline(const struct report *report, struct buf *out);
void report_states(const struct report *report, struct buf *out);
void report_blackboard(const struct report *report, struct buf *out);
void report_egress(const struct report *report, struct buf *out);
void report_autorun(const struct report *report, struct buf *out);
void report_repositories(const struct report *report, struct buf *out);
void report_confinement(const struct report *report, struct buf *out);
#endif
