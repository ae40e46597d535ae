/*
 * Texts for people, broken at blanks to the width they are read in.
 */
#ifndef SCHEMA_WRAP_H
#define SCHEMA_WRAP_H
#include "base/buf.h"

/* Wide enough that nothing is wrapped: for pipes and files, where a line is one message. */
#define WRAP_NEVER SIZE_MAX

/* The columns of one line of text on a terminal; colours take none. */
size_t wrap_width(const char *text, size_t len);
/* Appends the words of `text`; a line that would pass `columns` ends at a blank, and the next
 * begins with `indent` of them. A line break in `text` is one, without them. */
void wrap_text(struct buf *out, const char *text, size_t indent, size_t columns);
#endif
