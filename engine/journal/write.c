#include "base/io.h"
#include "journal/journal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

enum {
	ROOM_FIRST = 64 * 1024, /* most machines never need more */
	ROOM_MORE = 1024 * 1024,
	PAGE_BYTES = 4096,
	PENDING_MAX = 2 * JOURNAL_LINE_MAX,
	PENDING_KEEP = 256 * 1024,
};

static int sync_data(int fd)
{
	int failed;
	do
		failed = fdatasync(fd);
	while (failed && errno == EINTR);
	return failed;
}

static int cut(int fd, int64_t bytes)
{
	int failed;
	do
		failed = ftruncate(fd, bytes);
	while (failed && errno == EINTR);
	return failed;
}

int journal_open(int dir_fd, struct journal *out, struct err *e)
{
	AUTO_FD int fd = io_open_plain(dir_fd, "journal.jsonl", O_RDWR | O_CREAT, e);
	if (fd < 0)
		return -1;
	if (fsync(dir_fd))
		return err_errno(e, "cannot sync the directory of journal.jsonl");
	*out = (struct journal){.fd = TAKE_FD(fd), .end = journal_start()};
	buf_init(&out->pending, PENDING_MAX);
	return 0;
}

int journal_begin(struct journal *j, const struct journal_mark *at, struct err *e)
{
	/* What was read may never have reached the disk: the runner before us may have died
	 * between its write and its sync. */
	if (sync_data(j->fd))
		return err_errno(e, "cannot sync journal.jsonl");
	j->end = *at;
	j->room = at->offset;
	memcpy(j->chain, at->chain, sizeof(j->chain));
	return 0;
}

/* The next commit's sync takes the cut along: what it writes is behind that. */
int journal_cut(struct journal *j, struct err *e)
{
	return cut(j->fd, j->end.offset)
		       ? err_errno(e, "cannot cut journal.jsonl back to its last whole line")
		       : 0;
}

static int pad(struct journal *j, int64_t to)
{
	static char spaces[ROOM_FIRST];
	if (!spaces[0])
		memset(spaces, ' ', sizeof(spaces));
	for (int64_t at = j->room; at < to; at += ROOM_FIRST) {
		int64_t n = to - at < ROOM_FIRST ? to - at : ROOM_FIRST;
		if (io_write_at(j->fd, spaces, (size_t)n, at))
			return -1;
	}
	j->room = to;
	return 0;
}

/* Room for `len` more bytes: generous while the disk allows it, exact when it does not. */
static int make_room(struct journal *j, size_t len, struct err *e)
{
	int64_t need = j->end.offset + (int64_t)len;
	if (need <= j->room)
		return 0;
	int64_t exact = (need + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	int64_t wanted = exact + (j->end.offset < ROOM_FIRST ? ROOM_FIRST : ROOM_MORE);
	int64_t before = j->room;
	if (pad(j, wanted) == 0)
		return 0;
	if (cut(j->fd, before) || pad(j, exact))
		return err_errno(e, "cannot make room in journal.jsonl");
	return 0;
}

static int write_pending(struct journal *j, struct err *e)
{
	if (make_room(j, j->pending.len, e))
		return -1;
	if (io_write_at(j->fd, j->pending.data, j->pending.len, j->end.offset))
		return err_errno(e, "cannot write journal.jsonl");
	if (sync_data(j->fd))
		return err_errno(e, "cannot sync journal.jsonl");
	return 0;
}

static void announce(struct journal *j)
{
	for (const char *at = j->pending.data, *nl; *at; at = nl + 1) {
		nl = strchr(at, '\n');
		j->end.lines++;
		if (j->committed)
			j->committed(j->ctx, at, (size_t)(nl - at));
	}
}

int journal_queue(struct journal *j, const json_t *event, struct err *e)
{
	if (j->broken)
		return err_set(e, "the journal takes nothing more after a failed write");
	return journal_encode(event, j->chain, &j->pending, e);
}

int journal_commit(struct journal *j, const json_t *event, struct err *e)
{
	if (journal_queue(j, event, e))
		return -1;
	if (write_pending(j, e)) {
		/* Pages that failed to sync would still read back as written: without this cut
		 * the next start could believe what the disk does not hold. */
		j->broken = true;
		if (cut(j->fd, j->end.offset) == 0)
			j->room = j->end.offset;
		return -1;
	}
	j->end.offset += (int64_t)j->pending.len;
	memcpy(j->end.chain, j->chain, sizeof(j->chain));
	announce(j);
	buf_clear(&j->pending);
	if (j->pending.size >
		PENDING_KEEP) { /* a long wait should not hold a large fact's memory */
		buf_done(&j->pending);
		buf_init(&j->pending, PENDING_MAX);
	}
	return 0;
}

bool journal_intact(const struct journal *j)
{
	struct stat st;
	return !fstat(j->fd, &st) && st.st_size >= j->end.offset;
}

void journal_abandon(struct journal *j)
{
	j->broken = true;
	j->room = j->end.offset;
}

void journal_close(struct journal *j)
{
	/* Padding left behind is harmless: readers stop at it and the next start cuts it off. So
	 * nobody waits for the disk to forget it. */
	if (j->fd >= 0 && j->room > j->end.offset)
		cut(j->fd, j->end.offset);
	own_close(&j->fd);
	buf_done(&j->pending);
}
