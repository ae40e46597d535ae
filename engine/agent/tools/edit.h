/*
 * Edits to a text, pure: every `old` must occur exactly once, or the whole list is refused.
 *
 * One difference is repaired and named: line ends (the file has CRLF and the edit LF, or the file's
 * last line has none), or an indentation that differs by the same amount on every line.
 */
#ifndef TOOLS_EDIT_H
#define TOOLS_EDIT_H
#include "base/buf.h"

struct edit {
	const char *old_text, *new_text;
};

/* Appends the edited `text` to `out` and a line per edit to `report`. Returns -1 if nothing may be
 * written; `report` then says why, with the most similar region. */
int edit_apply(const char *text, const struct edit *edits, size_t count, struct buf *out,
	struct buf *report);
#endif
