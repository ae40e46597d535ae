/*
 * HTML text: everything that is not ours is escaped here.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H
#include "base/buf.h"
#include <jansson.h>

/* Appends `text` escaped for content and for quoted attributes; what is odd in it (base/utf8.h) as
 * on a terminal. At most `limit` bytes of it, then an ellipsis. */
void html_text(struct buf *out, const char *text, size_t limit);
/* The same text in <pre>, with a note of how much was left out. */
void html_block(struct buf *out, const char *text, size_t limit);
/* A pair of a <dl>; nothing when `text` is empty. */
void html_term(struct buf *out, const char *term, const char *text);
/* A value as indented JSON. Heap; "" for NULL. */
char *html_json(const json_t *value);
#endif
