/*
 * Texts for people, wrapped at blanks to the reader's width.
 */
#ifndef SCHEMA_WRAP_H
#define SCHEMA_WRAP_H
#include "base/buf.h"

/* No wrapping: for pipes and files, where a line is one message. */
#define WRAP_NEVER SIZE_MAX

/* Returns the columns of one line of text on a terminal; colours take none. */
size_t wrap_width(const char *text, size_t len);
/* Appends the words of `text`. A line that would exceed `columns` ends at a blank, and the next
 * begins with `indent` of them. A line break in `text` stays, without indentation. */
void wrap_text(struct buf *out, const char *text, size_t indent, size_t columns);
#endif
