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

/* Writes all of it. -1 with errno. */
int io_write(int fd, const void *bytes, size_t len);
/* The same at `offset`, wherever the descriptor stands. */
int io_write_at(int fd, const void *bytes, size_t len, int64_t offset);
/* Writes `text` in one piece to a file that the kernel keeps (below /proc, /sys). */
int io_put(const char *path, const char *text, struct err *e);
/* Appends up to EOF to `buf`; crossing buf->cap_bytes is an error that names `what`. */
int io_read_all(int fd, struct buf *buf, const char *what, struct err *e);
/* Whether both are of one file. */
bool io_is_same(const struct stat *a, const struct stat *b);
/* Closes every descriptor behind stderr that is not one of `keep`. -1 with errno. */
int io_close_others(const int *keep, size_t count);
/* The regular file `name` beneath `dir_fd` (AT_FDCWD works), at most `cap_bytes`, into heap memory
 * with a NUL behind it. FIFOs, devices and directories are refused without blocking. */
int io_read_file(
	int dir_fd, const char *name, size_t cap_bytes, char **out, size_t *len, struct err *e);
/* The same where `name` is a file that others may have put there: no link is followed. */
int io_read_plain(
	int dir_fd, const char *name, size_t cap_bytes, char **out, size_t *len, struct err *e);
/* A descriptor of the regular file `name` that others may have put there: no link is followed, and
 * what would block or answer is refused. `flags` as open takes them; what it creates is 0600. */
int io_open_plain(int dir_fd, const char *name, int flags, struct err *e);
/* Creates the file `path` beneath `dir_fd`, with the directories above it that are missing; one
 * that is there is an error. `mode` is before the umask. Not synced. */
int io_create_file(
	int dir_fd, const char *path, const void *bytes, size_t len, mode_t mode, struct err *e);
/* A sealed anonymous file with these bytes, read from its start; `name` is for messages. */
int io_memory_file(const char *name, const void *bytes, size_t len, struct err *e);
/* Replaces `name` in `dir_fd` durably: temporary file, write, fsync, rename, directory fsync. */
int io_replace_file(
	int dir_fd, const char *name, const void *bytes, size_t len, mode_t mode, struct err *e);
/* The same with `temp` as the temporary file's name; what stands there is removed. */
int io_replace_through(int dir_fd, const char *temp, const char *name, const struct buf *bytes,
	mode_t mode, struct err *e);
/* The same, 0600, for a file that several processes may replace at once: the last one wins, whole.
 * What one that is killed leaves behind, ".NAME.*", is the caller's to remove. */
int io_replace_shared(int dir_fd, const char *name, const void *bytes, size_t len, struct err *e);
/* The same, 0644, for a path that a person named as output. What is there and is no regular file,
 * or is a link to such a thing, is not replaced; of a link to a regular file it is the link that
 * is. "-", which means standard output elsewhere, is refused. */
int io_publish_file(const char *path, const void *bytes, size_t len, struct err *e);
/* The name beside `name` under which a file or a directory is begun. Who gets the lock of `dir_fd`,
 * and has it until that is closed, finds what a killed one before left under always the same name,
 * which is removed; beside somebody who works there, a name that no other one has. */
int io_temp_name(int dir_fd, const char *name, char temp[IO_TEMP_BYTES], struct err *e);
/* poll(2), EINTR retried, until clock_monotonic_ms() is `deadline_ms`: 0 from then on, whatever is
 * ready, so that who never stops writing holds nobody up. -1 with errno. */
int io_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ms);
#endif
