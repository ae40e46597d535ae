/*
 * Edits to a text, pure: every `old` must occur exactly once, or the whole list is refused.
 *
 * One difference heals, and is named when it does: line ends (the file has CRLF, the edit LF, or
 * its last line none), or an indentation that is off by the same amount on every line.
 */
#ifndef TOOLS_EDIT_H
#define TOOLS_EDIT_H
#include "base/buf.h"

struct edit {
	const char *old_text, *new_text;
};

/* Appends the edited `text` to `out` and a line per edit to `report`. -1: nothing is to be written,
 * and `report` says why, with the region that comes closest. */
int edit_apply(const char *text, const struct edit *edits, size_t count, struct buf *out,
	struct buf *report);
#endif
