/*
 * Markers of attempted prompt injection in text that a command printed.
 *
 * A heuristic on top of the walls, not one of them. Letters compare without case, and a run of
 * blanks or a line end in the text matches a blank of the marker.
 */
#ifndef POLICY_SCRUB_H
#define POLICY_SCRUB_H
#include "base/buf.h"

#define SCRUB_MARK "[FILTERED: potential injection]"

/* How many markers `text` holds. */
size_t scrub_count(const char *text, size_t len);
/* Appends `text` with every marker replaced by SCRUB_MARK; *count is increased by how many. */
int scrub_text(const char *text, size_t len, struct buf *out, size_t *count);
#endif
