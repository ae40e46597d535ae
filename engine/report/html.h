/*
 * HTML text: escapes everything that is not ours.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H
#include "base/buf.h"
#include <jansson.h>

/* Appends `text` escaped for content and for quoted attributes; odd characters (base/utf8.h) appear
 * as on a terminal. At most `limit` bytes, then an ellipsis. */
void html_text(struct buf *out, const char *text, size_t limit);
/* Appends the text in <pre>, with a note of how much was left out. */
void html_block(struct buf *out, const char *text, size_t limit);
/* Appends a pair of a <dl>; nothing if `text` is empty. */
void html_term(struct buf *out, const char *term, const char *text);
/* Returns a value as indented JSON. Heap; "" for NULL. */
char *html_json(const json_t *value);
#endif
