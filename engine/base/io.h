/*
 * Whole reads and writes on descriptors: EINTR retried, short transfers finished, limits mandatory.
 */
#ifndef BASE_IO_H
#define BASE_IO_H
#include "base/buf.h"
#include "base/err.h"
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { IO_TEMP_BYTES = 300 };

/* Writes all bytes. Returns -1 with errno. */
int io_write(int fd, const void *bytes, size_t len);
/* Does the same at `offset`, whatever the descriptor's position. */
int io_write_at(int fd, const void *bytes, size_t len, int64_t offset);
/* Writes `text` in one piece to a file of the kernel's (below /proc, /sys). */
int io_put(const char *path, const char *text, struct err *e);
/* Appends up to EOF to `buf`; crossing buf->cap_bytes is an error that names `what`. */
int io_read_all(int fd, struct buf *buf, const char *what, struct err *e);
/* Reports whether both describe the same file. */
bool io_is_same(const struct stat *a, const struct stat *b);
/* Closes every descriptor above stderr that is not one of `keep`. Returns -1 with errno. */
int io_close_others(const int *keep, size_t count);
/* Reads the regular file `name` beneath `dir_fd` (AT_FDCWD works), at most `cap_bytes`, into heap
 * memory with a NUL at its end. Refuses FIFOs, devices and directories without blocking. */
int io_read_file(
	int dir_fd, const char *name, size_t cap_bytes, char **out, size_t *len, struct err *e);
/* Does the same for a file that others may have put there: follows no link. */
int io_read_plain(
	int dir_fd, const char *name, size_t cap_bytes, char **out, size_t *len, struct err *e);
/* Opens the regular file `name` that others may have put there: follows no link, and refuses files
 * that would block or have effects. `flags` as for open; a created file is 0600. */
int io_open_plain(int dir_fd, const char *name, int flags, struct err *e);
/* Creates the file `path` beneath `dir_fd`, with missing directories above it; an existing file is
 * an error. `mode` is before the umask. Does not sync. */
int io_create_file(
	int dir_fd, const char *path, const void *bytes, size_t len, mode_t mode, struct err *e);
/* Returns a sealed anonymous file with these bytes, at its start; `name` is for messages. */
int io_memory_file(const char *name, const void *bytes, size_t len, struct err *e);
/* Replaces `name` in `dir_fd` durably: temporary file, write, fsync, rename, directory fsync. */
int io_replace_file(
	int dir_fd, const char *name, const void *bytes, size_t len, mode_t mode, struct err *e);
/* Does the same with `temp` as the temporary file's name; removes a file of that name first. */
int io_replace_through(int dir_fd, const char *temp, const char *name, const struct buf *bytes,
	mode_t mode, struct err *e);
/* Does the same, 0600, for a file that several processes may replace at once: the last one wins,
 * whole. The caller removes what a killed process leaves, ".NAME.*". */
int io_replace_shared(int dir_fd, const char *name, const void *bytes, size_t len, struct err *e);
/* Does the same, 0644, for a path that a person named as output. Refuses to replace something that
 * is no regular file, or a link to such; of a link to a regular file it replaces the link. Refuses
 * "-", which elsewhere means standard output. */
int io_publish_file(const char *path, const void *bytes, size_t len, struct err *e);
/* Chooses the name beside `name` under which a file or a directory is begun. If the caller gets the
 * lock of `dir_fd`, which it holds until that is closed, the name is always the same, and what a
 * killed process left there is removed. If another process has the lock, the name is a unique
 * one. */
int io_temp_name(int dir_fd, const char *name, char temp[IO_TEMP_BYTES], struct err *e);
/* Calls poll(2), with EINTR retried, until clock_monotonic_ms() is `deadline_ms`. From then on it
 * returns 0 whatever is ready, so that a writer that never stops cannot hold the caller up. Returns
 * -1 with errno. */
int io_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ms);
#endif
