/*
 * Texts about the autorun files that a run has changed (run/autorun.h).
 */
#ifndef REPORT_AUTORUN_TEXT_H
#define REPORT_AUTORUN_TEXT_H
#include "base/buf.h"
#include <jansson.h>

/* Appends one file: ".envrc, made: direnv, when a shell enters the directory". */
void autorun_text_file(const json_t *file, struct buf *out);
/* Appends a remark on the rest of {files, more, cut} after the first `shown`; nothing if there is
 * none. */
void autorun_text_rest(const json_t *autorun, size_t shown, struct buf *out);
/* Appends the list as a part of a page. */
void autorun_html(const json_t *autorun, struct buf *out);
#endif
