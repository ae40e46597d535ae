#include "base/io.h"

#include "base/clock.h"
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Writes all bytes at `offset`; -1: at the descriptor's position. */
static int write_all(int fd, const char *bytes, size_t len, int64_t offset)
{
	for (size_t done = 0; done < len;) {
		const char *p = bytes + done;
		ssize_t n = offset < 0 ? write(fd, p, len - done)
				       : pwrite(fd, p, len - done, offset + (int64_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (!n) /* only a full device returns 0 for a non-empty write */
			errno = ENOSPC;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

int io_write(int fd, const void *bytes, size_t len)
{
	return write_all(fd, bytes, len, -1);
}

int io_write_at(int fd, const void *bytes, size_t len, int64_t offset)
{
	return write_all(fd, bytes, len, offset);
}

int io_put(const char *path, const char *text, struct err *e)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || io_write(fd, text, strlen(text)))
		return err_errno(e, "cannot write %s", path);
	return 0;
}

bool io_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Closes the ranges between the kept descriptors. */
int io_close_others(const int *keep, size_t count)
{
	int next = STDERR_FILENO;
	do {
		int first = next + 1;
		next = INT_MAX;
		for (size_t i = 0; i < count; i++)
			if (keep[i] >= first && keep[i] < next)
				next = keep[i];
		if (next > first && syscall(SYS_close_range, first, next - 1, 0) < 0)
			return -1;
	} while (next < INT_MAX);
	return 0;
}

int io_read_all(int fd, struct buf *buf, const char *what, struct err *e)
{
	for (;;) {
		char chunk[16384];
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, "cannot read %s", what);
		if (!n)
			return buf_add(buf, "", 0) ? err_set(e, "%s: out of memory", what) : 0;
		if (buf_add(buf, chunk, (size_t)n))
			return err_set(e, "%s is larger than the limit of %zu bytes", what,
				buf->cap_bytes);
	}
}

static int open_regular(int dir_fd, const char *name, int flags, struct err *e)
{
	struct stat st;
	AUTO_FD int fd = openat(dir_fd, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0)
		return err_errno(e, "cannot open %s", name);
	if (fstat(fd, &st))
		return err_errno(e, "cannot examine %s", name);
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : err_set(e, "%s is not a regular file", name);
}

int io_open_plain(int dir_fd, const char *name, int flags, struct err *e)
{
	return open_regular(dir_fd, name, flags | O_NOFOLLOW, e);
}

static int read_opened(
	int fd, const char *name, size_t cap_bytes, char **out, size_t *len, struct err *e)
{
	if (fd < 0)
		return -1;
	AUTO_BUF b = BUF_INIT(cap_bytes);
	if (io_read_all(fd, &b, name, e))
		return -1;
	*out = buf_take(&b, len);
	return *out ? 0 : err_set(e, "%s: out of memory", name);
}

int io_read_file(
	int dir_fd, const char *name, size_t cap_bytes, char **out, size_t *len, struct err *e)
{
	AUTO_FD int fd = open_regular(dir_fd, name, O_RDONLY, e);
	return read_opened(fd, name, cap_bytes, out, len, e);
}

int io_read_plain(
	int dir_fd, const char *name, size_t cap_bytes, char **out, size_t *len, struct err *e)
{
	AUTO_FD int fd = io_open_plain(dir_fd, name, O_RDONLY, e);
	return read_opened(fd, name, cap_bytes, out, len, e);
}

int io_create_file(
	int dir_fd, const char *path, const void *bytes, size_t len, mode_t mode, struct err *e)
{
	AUTO_FREE char *above = strdup(path);
	if (!above)
		return err_set(e, "out of memory");
	for (char *slash = above; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdirat(dir_fd, above, 0777) && errno != EEXIST)
			return err_errno(e, "cannot create %s", above);
	}
	AUTO_FD int fd =
		openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0 || io_write(fd, bytes, len))
		return err_errno(e, "cannot write %s", path);
	return 0;
}

int io_memory_file(const char *name, const void *bytes, size_t len, struct err *e)
{
	AUTO_FD int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || io_write(fd, bytes, len) || lseek(fd, 0, SEEK_SET) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		return err_errno(e, "cannot pass %s to a child", name);
	return TAKE_FD(fd);
}

static int replace_in(int dir_fd, const char *temp, const char *name, const struct buf *bytes,
	mode_t mode, struct err *e)
{
	/* Remove a file left by a killed run, or planted: opening a pipe would block. */
	unlinkat(dir_fd, temp, 0);
	AUTO_FD int fd =
		openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return err_errno(e, "cannot create %s", name);
	if (io_write(fd, bytes->data, bytes->len))
		return err_errno(e, "cannot write %s", name);
	if (fsync(fd))
		return err_errno(e, "cannot sync %s", name);
	if (renameat(dir_fd, temp, dir_fd, name))
		return err_errno(e, "cannot put %s in its place", name);
	return fsync(dir_fd) ? err_errno(e,
				       "%s is written, but a power failure may undo that: cannot "
				       "sync its directory",
				       name)
			     : 0;
}

int io_replace_through(int dir_fd, const char *temp, const char *name, const struct buf *bytes,
	mode_t mode, struct err *e)
{
	if (!replace_in(dir_fd, temp, name, bytes, mode, e))
		return 0;
	unlinkat(dir_fd, temp, 0);
	return -1;
}

int io_replace_file(
	int dir_fd, const char *name, const void *bytes, size_t len, mode_t mode, struct err *e)
{
	char temp[IO_TEMP_BYTES];
	struct buf view = {.data = (char *)(uintptr_t)bytes, .len = len};
	if (snprintf(temp, sizeof(temp), ".%s.tmp", name) >= (int)sizeof(temp))
		return err_set(e, "the file name %s is too long", name);
	return io_replace_through(dir_fd, temp, name, &view, mode, e);
}

int io_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ms)
{
	int64_t left_ms;
	int ready = 0;
	while (!ready && (left_ms = deadline_ms - clock_monotonic_ms()) > 0) {
		ready = poll(fds, count, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
		if (ready < 0 && errno == EINTR)
			ready = 0;
	}
	return ready;
}
