/*
 * Scrubbing: finds markers of attempted prompt injection in a command's output.
 *
 * It is a heuristic in addition to the confinement, not part of it. Letters compare without case,
 * and a run of blanks or a line end in the text matches a blank of the marker.
 */
#ifndef POLICY_SCRUB_H
#define POLICY_SCRUB_H
#include "base/buf.h"

#define SCRUB_MARK "[FILTERED: potential injection]"

/* Returns how many markers `text` holds. */
size_t scrub_count(const char *text, size_t len);
/* Appends `text` with every marker replaced by SCRUB_MARK, and adds their number to *count. */
int scrub_text(const char *text, size_t len, struct buf *out, size_t *count);
#endif
