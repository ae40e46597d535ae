/*
 * What people read about the autorun files that a run has changed (run/autorun.h).
 */
#ifndef REPORT_AUTORUN_TEXT_H
#define REPORT_AUTORUN_TEXT_H
#include "base/buf.h"
#include <jansson.h>

/* One file: ".envrc, made: direnv, when a shell enters the directory". */
void autorun_text_file(const json_t *file, struct buf *out);
/* What is left to say behind the first `shown` of {files, more, cut}; nothing when that is all. */
void autorun_text_rest(const json_t *autorun, size_t shown, struct buf *out);
/* The same as a part of a page. */
void autorun_html(const json_t *autorun, struct buf *out);
#endif
