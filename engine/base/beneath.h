/*
 * Paths beneath a directory descriptor: openat2(2) with RESOLVE_BENEATH, so that neither "..",
 * nor an absolute link, nor a swap while we look can leave the directory.
 */
#ifndef BASE_BENEATH_H
#define BASE_BENEATH_H
#include "base/err.h"
#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens `path` (relative) beneath `dir_fd`. `flags` as open(2); O_CLOEXEC is added. `resolve` adds
 * RESOLVE_* bits (linux/openat2.h) to BENEATH|NO_MAGICLINKS. Returns a descriptor, or -1 with errno
 * (EXDEV: it left the directory; ELOOP: a refused link). Retries EAGAIN, which a concurrent rename
 * causes. */
int beneath_open(int dir_fd, const char *path, int flags, mode_t mode, uint64_t resolve);
/* Finds the path of `fd` by the kernel's record, whatever links and dots led there. Returns -1 if
 * it is unknown. */
int beneath_place(int fd, char path[PATH_MAX]);
/* Finds the path of `fd` below `dir_fd`, pointing into `path`; NULL: it does not lie there. */
const char *beneath_relative(int dir_fd, int fd, char path[PATH_MAX]);
#endif
