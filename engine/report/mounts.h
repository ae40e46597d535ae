/*
 * A jail's mounts in words for people.
 */
#ifndef REPORT_MOUNTS_H
#define REPORT_MOUNTS_H
#include "base/buf.h"
#include "base/cleanup.h"

/* Writes a line for each mount in `text`, a jail's /proc/self/mountinfo, which it modifies. */
int mounts_text(struct buf *out, char *text) MUST_CHECK;
#endif
