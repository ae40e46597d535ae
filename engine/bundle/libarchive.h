/*
 * libarchive, loaded when the first packed bundle is opened: it needs fifteen libraries, which
 * every command would otherwise load and hardly one use. Its functions are called through
 * `libarchive`, without their prefix: `libarchive.read_new()` is archive_read_new().
 */
#ifndef BUNDLE_LIBARCHIVE_H
#define BUNDLE_LIBARCHIVE_H
#include "base/err.h"
#include <archive.h>
#include <archive_entry.h>

#define LIBARCHIVE_CALLS(X)                                                                        \
	X(error_string)                                                                            \
	X(filter_count)                                                                            \
	X(set_error)                                                                               \
	X(entry_new)                                                                               \
	X(entry_free)                                                                              \
	X(entry_filetype)                                                                          \
	X(entry_set_filetype)                                                                      \
	X(entry_mode)                                                                              \
	X(entry_size)                                                                              \
	X(read_new)                                                                                \
	X(read_free)                                                                               \
	X(read_support_filter_zstd)                                                                \
	X(read_support_format_raw)                                                                 \
	X(read_support_format_tar)                                                                 \
	X(read_set_options)                                                                        \
	X(read_open_fd)                                                                            \
	X(read_open_memory)                                                                        \
	X(read_next_header)                                                                        \
	X(read_header_position)                                                                    \
	X(read_data)                                                                               \
	X(write_new)                                                                               \
	X(write_free)                                                                              \
	X(write_set_format_raw)                                                                    \
	X(write_add_filter_zstd)                                                                   \
	X(write_set_options)                                                                       \
	X(write_set_bytes_in_last_block)                                                           \
	X(write_open)                                                                              \
	X(write_header)                                                                            \
	X(write_data)                                                                              \
	X(write_close)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member */
#define X(name) __typeof__(archive_##name) *name;
struct libarchive {
	LIBARCHIVE_CALLS(X)
};
#undef X

extern struct libarchive libarchive;

/* Loads it; call this before any of its functions. Returns -1 if the system does not have it, or
 * has too old a version. */
int libarchive_load(struct err *e);
#endif
