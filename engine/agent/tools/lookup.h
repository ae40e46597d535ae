/*
 * Paths as a model writes them, opened beneath the workspace and nowhere else.
 *
 * Resolution is the kernel's (openat2, RESOLVE_BENEATH), so neither "..", nor a link, nor a
 * component swapped while we look can leave. FIFOs, devices and sockets are refused before they are
 * opened.
 */
#ifndef TOOLS_LOOKUP_H
#define TOOLS_LOOKUP_H
#include "agent/tools/tool.h"
#include <sys/stat.h>

/* The part of `path` below the workspace ("." for itself). NULL with a message when it lies
 * outside. Points into `path` or to a constant. */
const char *lookup_relative(const struct tool_context *context, const char *path, struct buf *out);
/* A regular file for reading; -1 with a message in `out`. */
int lookup_open_file(
	const struct tool_context *context, const char *path, struct stat *st, struct buf *out);
/* A directory for reading; -1 with a message in `out`. */
int lookup_open_dir(const struct tool_context *context, const char *path, struct buf *out);
/* Whether this is one of the paths that the operator hides, under whatever name, or what a link of
 * them leads to. */
bool lookup_is_hidden(const struct tool_context *context, const struct stat *st);
/* "a directory", "a named pipe" ... */
const char *lookup_kind(mode_t mode);
#endif
