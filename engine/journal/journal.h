/*
 * The journal: one JSON object per line, chained by SHA-256, and the only thing resume believes
 * (the line format is written down in schema/journal.schema.json).
 *
 * A line is `{"t":TYPE,"ts":WHEN,"seq":N,...own keys sorted...,"h":HEX}`. The file ends in a run of
 * spaces while someone writes to it: lines are written into space that exists already, so that
 * one fdatasync per fact need not wait for the file system's own journal. Closing cuts the run off;
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

/* The very beginning: 64 zeros. */
struct journal_mark journal_start(void);

/* Reads forward from a mark, one verified line at a time, in constant memory but for the longest
 * line. */
struct journal_reader {
	int fd;           /* borrowed */
	const char *name; /* of the file, for messages; journal_reader_init: the journal's */
	struct journal_mark mark; /* behind the last line read */
	struct buf window;
	size_t at;
	int patience_ms;    /* somebody may be writing: look twice before a line is damaged, and not
			       through all of the room behind the last; 0: nobody */
	int64_t looked_at;  /* a faulty line was read twice: its offset plus one */
	int64_t torn_bytes; /* set at the end: bytes of an unfinished last line */
	bool at_eof;
};

void journal_reader_init(struct journal_reader *reader, int fd, const struct journal_mark *from);
void journal_reader_done(struct journal_reader *reader);
/* 1: a line, valid until the next call, without its newline. 0: the end; `mark` says where the next
 * line belongs. -1: damage, with the line number in the message; number is 0. A read error has its
 * errno in e->number. */
int journal_next(struct journal_reader *reader, const char **line, size_t *len, struct err *e);
/* Whether a line ends exactly at `mark` with that chain value (or mark is the start). */
bool journal_has(int fd, const struct journal_mark *mark);

/* The last whole line as an object, its hash unchecked: a quick look for readers. NULL: none, with
 * e empty when the journal is. */
json_t *journal_last(int fd, struct err *e);

/* The line as an object, `h` left out. NULL with the reason. */
json_t *journal_decode(const char *line, size_t len, struct err *e);
/* Gives every line from `*at` on, decoded, to `each`; somebody may be writing. *at moves behind. */
int journal_each(int fd, struct journal_mark *at, void (*each)(void *ctx, const json_t *fields),
	void *ctx, struct err *e);
/* Appends the line of `event` (an object with t, ts and seq) and its newline; `chain` moves on. */
int journal_encode(const json_t *event, char chain[SHA256_HEX + 1], struct buf *out, struct err *e);

struct journal {
	int fd;
	struct journal_mark end;    /* what is durable */
	struct buf pending;         /* encoded, not yet written */
	char chain[SHA256_HEX + 1]; /* behind pending */
	int64_t room;               /* bytes of the file, padding included */
	bool broken;                /* a write failed, or it was abandoned: nothing is accepted */
	/* Called for every line once it is durable, without its newline. May be NULL. */
	void (*committed)(void *ctx, const char *line, size_t len);
	void *ctx;
};

/* Opens `journal.jsonl` in `dir_fd` for writing, creating it durably. Nothing is read. */
int journal_open(int dir_fd, struct journal *out, struct err *e);
/* Makes what was read up to `at` the durable end. journal_cut() is next. */
int journal_begin(struct journal *journal, const struct journal_mark *at, struct err *e);
/* Cuts off what is behind the durable end: a torn line, padding. */
int journal_cut(struct journal *journal, struct err *e);
/* A line that rides with the next commit. */
int journal_queue(struct journal *journal, const json_t *event, struct err *e);
/* Queues `event`, then makes everything queued durable: one write, one fdatasync. On failure the
 * file is cut back to what was durable and the journal is broken. */
int journal_commit(struct journal *journal, const json_t *event, struct err *e);
/* Whether the file still reaches as far as what is durable. */
bool journal_intact(const struct journal *journal);
/* The file is no longer ours alone: nothing is written to it any more, nor cut off. */
void journal_abandon(struct journal *journal);
/* Forgets queued lines, cuts the padding off, closes. */
void journal_close(struct journal *journal);
#endif
