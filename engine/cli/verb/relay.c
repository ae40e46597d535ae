#include "cli/verb/relay.h"

#include "base/io.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#ifndef PIPEFS_MAGIC
#define PIPEFS_MAGIC 0x50495045
#endif

static const char *const names[] = {"standard input", "standard output", "standard error"};

/* Reports whether a descriptor is passed on unchanged. An unnamed pipe is: nobody looks at its
 * mode, and nothing in it can be read twice. */
static bool is_handed_on(int fd, const struct stat *st)
{
	struct statfs at;
	bool nameless = S_ISFIFO(st->st_mode) && !fstatfs(fd, &at) && at.f_type == PIPEFS_MAGIC;
	return !(S_ISREG(st->st_mode) || S_ISBLK(st->st_mode) || S_ISFIFO(st->st_mode)) || nameless;
}

static int open_way(struct relay *relay, int fd, const struct stat *st, struct err *e)
{
	int ends[2];
	struct relay_way *way = &relay->ways[fd];
	bool reads = fd == STDIN_FILENO;
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, "cannot make a pipe");
	way->pipe = ends[reads];
	relay->command[fd] = ends[!reads];
	way->from = reads ? fd : way->pipe;
	way->to = reads ? way->pipe : fd;
	way->most = S_ISFIFO(st->st_mode) ? PIPE_BUF : RELAY_BYTES;
	return fcntl(way->pipe, F_SETFL, O_NONBLOCK) ? err_errno(e, "cannot use a pipe") : 0;
}

/* Opens the pipes. Output and error to the same file share one pipe, which keeps their order. */
int relay_open(struct relay *relay, struct err *e)
{
	struct stat st[3];
	memset(relay, 0, sizeof(*relay));
	for (int fd = 0; fd < 3; fd++) {
		relay->command[fd] = fd;
		relay->ways[fd].from = relay->ways[fd].to = relay->ways[fd].pipe = -1;
	}
	for (int fd = 0; fd < 3; fd++) {
		if (fstat(fd, &st[fd]))
			return err_errno(e, "cannot examine %s", names[fd]);
		if (is_handed_on(fd, &st[fd]))
			continue;
		if (fd == STDERR_FILENO && relay->ways[STDOUT_FILENO].pipe >= 0 &&
			io_is_same(&st[STDOUT_FILENO], &st[fd]))
			relay->command[fd] = relay->command[STDOUT_FILENO];
		else if (open_way(relay, fd, &st[fd], e))
			return -1;
	}
	return 0;
}

static void close_way(struct relay_way *way)
{
	way->from = way->to = -1;
	way->len = 0;
	own_close(&way->pipe);
}

void relay_done(struct relay *relay)
{
	for (int fd = 2; fd >= 0; fd--) {
		close_way(&relay->ways[fd]);
		if (relay->command[fd] != fd &&
			!(fd == 2 && relay->command[1] == relay->command[2]))
			close(relay->command[fd]);
		relay->command[fd] = fd;
	}
}

void relay_want(const struct relay *relay, struct pollfd wanted[3])
{
	for (int i = 0; i < 3; i++) {
		const struct relay_way *way = &relay->ways[i];
		wanted[i] = (struct pollfd){.fd = way->len ? way->to : way->from,
			.events = way->len ? POLLOUT : POLLIN};
	}
}

/* Closes the way to a file that cannot be written any more: the command sees a pipe without a
 * reader. */
static void fail(struct relay *relay, int i)
{
	if (i != STDIN_FILENO && !relay->failed) {
		relay->failed = errno;
		relay->what = names[i];
	}
	close_way(&relay->ways[i]);
}

static void take(struct relay *relay, int i)
{
	struct relay_way *way = &relay->ways[i];
	ssize_t got = read(way->from, way->bytes, sizeof(way->bytes));
	way->at = 0;
	way->len = got > 0 ? (size_t)got : 0;
	if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
		close_way(way); /* for input, the command sees its end */
}

static void give(struct relay *relay, int i)
{
	struct relay_way *way = &relay->ways[i];
	size_t most = way->len < way->most ? way->len : way->most;
	ssize_t put = write(way->to, way->bytes + way->at, most);
	if (put < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (put <= 0) {
		fail(relay, i);
		return;
	}
	way->at += (size_t)put;
	way->len -= (size_t)put;
}

void relay_carry(struct relay *relay, const struct pollfd wanted[3])
{
	for (int i = 0; i < 3; i++) {
		if (wanted[i].fd < 0 || !wanted[i].revents)
			continue;
		if (relay->ways[i].len)
			give(relay, i);
		else
			take(relay, i);
	}
}

bool relay_is_empty(struct relay *relay)
{
	for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
		if (relay->ways[i].from >= 0 && !relay->ways[i].len)
			take(relay, i);
		if (relay->ways[i].len)
			return false;
	}
	return true;
}
