/*
 * What a jail has mounted, as people read it.
 */
#ifndef REPORT_MOUNTS_H
#define REPORT_MOUNTS_H
#include "base/buf.h"
#include "base/cleanup.h"

/* A line for each place in `text`, which is a jail's /proc/self/mountinfo and is taken apart. */
int mounts_text(struct buf *out, char *text) MUST_CHECK;
#endif
