#include "base/io.h"
#include "journal/journal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

enum {
	ROOM_FIRST = 64 * 1024, /* enough for most machines */
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

int journal_begin(struct journal *journal, const struct journal_mark *at, struct err *e)
{
	/* The lines just read may not be on the disk: an earlier runner may have died between its
	 * write and its sync. */
	if (sync_data(journal->fd))
		return err_errno(e, "cannot sync journal.jsonl");
	journal->end = *at;
	journal->room = at->offset;
	memcpy(journal->chain, at->chain, sizeof(journal->chain));
	return 0;
}

/* Does not sync: the next commit's sync covers the cut, since its line lies after it. */
int journal_cut(struct journal *journal, struct err *e)
{
	return cut(journal->fd, journal->end.offset)
		       ? err_errno(e, "cannot cut journal.jsonl back to its last whole line")
		       : 0;
}

static int pad(struct journal *journal, int64_t to)
{
	static char spaces[ROOM_FIRST];
	if (!spaces[0])
		memset(spaces, ' ', sizeof(spaces));
	for (int64_t at = journal->room; at < to; at += ROOM_FIRST) {
		int64_t n = to - at < ROOM_FIRST ? to - at : ROOM_FIRST;
		if (io_write_at(journal->fd, spaces, (size_t)n, at))
			return -1;
	}
	journal->room = to;
	return 0;
}

/* Makes room for `len` more bytes: generous while the disk allows it, exact when it does not. */
static int make_room(struct journal *journal, size_t len, struct err *e)
{
	int64_t need = journal->end.offset + (int64_t)len;
	if (need <= journal->room)
		return 0;
	int64_t exact = (need + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	int64_t wanted = exact + (journal->end.offset < ROOM_FIRST ? ROOM_FIRST : ROOM_MORE);
	int64_t before = journal->room;
	if (pad(journal, wanted) == 0)
		return 0;
	if (cut(journal->fd, before) || pad(journal, exact))
		return err_errno(e, "cannot make room in journal.jsonl");
	return 0;
}

static int write_pending(struct journal *journal, struct err *e)
{
	if (make_room(journal, journal->pending.len, e))
		return -1;
	if (io_write_at(
		    journal->fd, journal->pending.data, journal->pending.len, journal->end.offset))
		return err_errno(e, "cannot write journal.jsonl");
	if (sync_data(journal->fd))
		return err_errno(e, "cannot sync journal.jsonl");
	return 0;
}

static void announce(struct journal *journal)
{
	for (const char *at = journal->pending.data, *nl; *at; at = nl + 1) {
		nl = strchr(at, '\n');
		journal->end.lines++;
		if (journal->committed)
			journal->committed(journal->ctx, at, (size_t)(nl - at));
	}
}

int journal_queue(struct journal *journal, const json_t *event, struct err *e)
{
	if (journal->broken)
		return err_set(e, "the journal takes nothing more after a failed write");
	return journal_encode(event, journal->chain, &journal->pending, e);
}

int journal_commit(struct journal *journal, const json_t *event, struct err *e)
{
	if (journal_queue(journal, event, e))
		return -1;
	if (write_pending(journal, e)) {
		/* Pages that failed to sync would still read back as written. Without this cut the
		 * next start could believe lines that are not on the disk. */
		journal->broken = true;
		if (cut(journal->fd, journal->end.offset) == 0)
			journal->room = journal->end.offset;
		return -1;
	}
	journal->end.offset += (int64_t)journal->pending.len;
	memcpy(journal->end.chain, journal->chain, sizeof(journal->chain));
	announce(journal);
	buf_clear(&journal->pending);
	if (journal->pending.size > PENDING_KEEP) { /* keep no large buffer through a long wait */
		buf_done(&journal->pending);
		buf_init(&journal->pending, PENDING_MAX);
	}
	return 0;
}

bool journal_intact(const struct journal *journal)
{
	struct stat st;
	return !fstat(journal->fd, &st) && st.st_size >= journal->end.offset;
}

void journal_abandon(struct journal *journal)
{
	journal->broken = true;
	journal->room = journal->end.offset;
}

void journal_close(struct journal *journal)
{
	/* Padding that stays is harmless: readers stop at it and the next start cuts it off. So do
	 * not wait for the disk. */
	if (journal->fd >= 0 && journal->room > journal->end.offset)
		cut(journal->fd, journal->end.offset);
	own_close(&journal->fd);
	buf_done(&journal->pending);
}
