/*
 * The journal: one JSON object per line, chained by SHA-256; resume believes nothing else (the line
 * format is in schema/journal.schema.json).
 *
 * A line is `{"t":TYPE,"ts":WHEN,"seq":N,...own keys sorted...,"h":HEX}`. The file ends in a run of
 * spaces while someone writes to it: lines are written into space that exists already, so that one
 * fdatasync per fact need not wait for the file system's own journal. Closing cuts the run off;
 * readers stop there.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H
#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { JOURNAL_LINE_MAX = 16 * 1024 * 1024, JOURNAL_PATIENCE_MS = 50 };

/* A place between two lines: where the next one starts and what it is chained to. */
struct journal_mark {
	int64_t offset;
	uint64_t lines; /* before it */
	char chain[SHA256_HEX + 1];
};

/* Returns the start of a journal, with 64 zeros for the chain. */
struct journal_mark journal_start(void);

/* Reads forward from a mark, one verified line at a time. Memory is constant apart from the longest
 * line. */
struct journal_reader {
	int fd;                   /* borrowed */
	const char *name;         /* the file's name for messages, set by journal_reader_init */
	struct journal_mark mark; /* after the last line read */
	struct buf window;
	size_t at;
	/* If somebody may be writing, how long to wait before a faulty line is read again and
	 * called damaged; the padding after the last line is then not read to its end. 0: nobody
	 * writes. */
	int patience_ms;
	int64_t looked_at;  /* offset plus one of a faulty line that was read twice */
	int64_t torn_bytes; /* set at the end: bytes of an unfinished last line */
	bool at_eof;
};

void journal_reader_init(struct journal_reader *reader, int fd, const struct journal_mark *from);
void journal_reader_done(struct journal_reader *reader);
/* Reads a line. 1: a line, without its newline, valid until the next call. 0: the end; `mark` says
 * where the next line belongs. -1: damage, with the line number in the message and 0 in e->number;
 * or a read error, with its errno in e->number. */
int journal_next(struct journal_reader *reader, const char **line, size_t *len, struct err *e);
/* Reports whether a line ends exactly at `mark` with that chain value (or mark is the start). */
bool journal_has(int fd, const struct journal_mark *mark);

/* Returns the last whole line as an object, without checking its hash: a quick look for readers.
 * NULL: none; `e` stays empty if the journal is empty. */
json_t *journal_last(int fd, struct err *e);

/* Returns the line as an object without `h`. NULL with the reason. */
json_t *journal_decode(const char *line, size_t len, struct err *e);
/* Gives every line from `*at` on, decoded, to `each`; somebody may be writing. Moves *at past
 * them. */
int journal_each(int fd, struct journal_mark *at, void (*each)(void *ctx, const json_t *fields),
	void *ctx, struct err *e);
/* Appends the line of `event` (an object with t, ts and seq) and its newline; updates `chain`. */
int journal_encode(const json_t *event, char chain[SHA256_HEX + 1], struct buf *out, struct err *e);

struct journal {
	int fd;
	struct journal_mark end;    /* the end of the durable part */
	struct buf pending;         /* encoded, not yet written */
	char chain[SHA256_HEX + 1]; /* after the lines in `pending` */
	int64_t room;               /* bytes of the file, padding included */
	/* A write failed, or the journal was abandoned: nothing is accepted. */
	bool broken;
	/* Called for every line once it is durable, without its newline. May be NULL. */
	void (*committed)(void *ctx, const char *line, size_t len);
	void *ctx;
};

/* Opens `journal.jsonl` in `dir_fd` for writing, and creates it durably if needed. Reads
 * nothing. */
int journal_open(int dir_fd, struct journal *out, struct err *e);
/* Makes everything up to `at` durable and the end of the journal. Call journal_cut() next. */
int journal_begin(struct journal *journal, const struct journal_mark *at, struct err *e);
/* Cuts off everything after the durable end: a torn line, padding. */
int journal_cut(struct journal *journal, struct err *e);
/* Queues a line that is written with the next commit. */
int journal_queue(struct journal *journal, const json_t *event, struct err *e);
/* Queues `event`, then makes all queued lines durable: one write, one fdatasync. If that fails, the
 * file is cut back to its durable part and the journal is broken. */
int journal_commit(struct journal *journal, const json_t *event, struct err *e);
/* Reports whether the file still holds the whole durable part. */
bool journal_intact(const struct journal *journal);
/* Gives the file up: nothing more is written to it or cut off, because another run may use it. */
void journal_abandon(struct journal *journal);
/* Forgets queued lines, cuts the padding off, closes. */
void journal_close(struct journal *journal);
#endif
