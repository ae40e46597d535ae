/*
 * HTML text: everything that is not ours is escaped here.
 */
#ifndef CLI_HTML_H
#define CLI_HTML_H
#include "base/buf.h"

/* Appends `text` escaped for content and for quoted attributes; control characters and broken UTF-8
 * become U+FFFD. At most `limit` bytes of it, then an ellipsis. */
void html_text(struct buf *out, const char *text, size_t limit);
#endif
