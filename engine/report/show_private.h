/*
 * Declarations that only the files of show.h share: show.c shows the lines of a run and its live
 * line, show_result.c its end.
 */
#ifndef REPORT_SHOW_PRIVATE_H
#define REPORT_SHOW_PRIVATE_H
#include "report/show.h"

enum { SHOW_LINE_BYTES_MAX = 64 * 1024 };

/* Appends a text, cleaned, in a terminal's colour where there are colours. */
void show_paint(const struct show *show, struct buf *out, const char *code, const char *text);
/* Erases the live line. A terminal that has become narrower may have broken it into several. */
void show_erase(struct show *show);
/* Prints a line in place of the live line. */
void show_print(struct show *show, const struct buf *line);
#endif
