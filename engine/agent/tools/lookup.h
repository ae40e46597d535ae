/*
 * Lookup: opens paths written by a model, only beneath the workspace.
 *
 * The kernel resolves them (openat2, RESOLVE_BENEATH), so neither "..", nor a link, nor a component
 * swapped meanwhile can lead outside. FIFOs, devices and sockets are refused before they are
 * opened.
 */
#ifndef TOOLS_LOOKUP_H
#define TOOLS_LOOKUP_H
#include "agent/tools/tool.h"
#include <sys/stat.h>

/* Returns the part of `path` below the workspace ("." for itself), pointing into `path` or to a
 * constant. NULL with a message if it lies outside. */
const char *lookup_relative(const struct tool_context *context, const char *path, struct buf *out);
/* Opens a regular file for reading. Returns -1 with a message in `out`. */
int lookup_open_file(
	const struct tool_context *context, const char *path, struct stat *st, struct buf *out);
/* Opens a directory for reading. Returns -1 with a message in `out`. */
int lookup_open_dir(const struct tool_context *context, const char *path, struct buf *out);
/* Reports whether this is a path that the operator hides, under whatever name, or the target of a
 * link that is hidden. */
bool lookup_is_hidden(const struct tool_context *context, const struct stat *st);
/* Returns "a directory", "a named pipe" ... */
const char *lookup_kind(mode_t mode);
#endif
