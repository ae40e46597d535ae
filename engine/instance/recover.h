/*
 * Recovery: computes a run's position from the files of its instance.
 */
#ifndef INSTANCE_RECOVER_H
#define INSTANCE_RECOVER_H
#include "instance/instance.h"
#include "instance/position.h"
#include "journal/journal.h"
#include <limits.h>

/* Advice that follows a message about a damaged line. */
#define RECOVER_HOW_ON "; bring the file back from a copy, or begin again under another --id"

/* A shorter journal is replayed from its start, with or without a snapshot: that takes tens of
 * milliseconds, and then damage anywhere in it is noticed. */
enum { RECOVER_SNAPSHOT_BYTES = 1024 * 1024 };

enum recover_end { RECOVER_DONE, RECOVER_DAMAGED, RECOVER_BROKEN };

/* Applies every line of the journal `fd`; or only those after the snapshot, if at least
 * `snapshot_bytes` lie before it (-1: never use it). `each` (may be NULL) sees the position after
 * each line; returning true ends the reading there. Release `position` in any case. `at` is the
 * place of the next line, `read_bytes` the number of bytes read up to there, `torn_bytes` the
 * number after it. */
struct recovery {
	const struct instance *instance;
	const struct machine *machine;
	int fd;
	int64_t snapshot_bytes;
	bool foreign;
	int patience_ms; /* as in struct journal_reader */
	bool (*each)(void *ctx, const struct line *line, const struct position *position);
	void *ctx;
	struct position position;
	struct journal_mark at;
	int64_t read_bytes, torn_bytes;
};
enum recover_end recover(struct recovery *recovery, struct err *e);
/* Refuses a journal (fd -1: none) whose `lines` are fewer than when its snapshot was written: the
 * missing ones were committed. The chain does not show this, since a journal cut at the end of a
 * line is still sound. */
int recover_whole(const struct instance *instance, int fd, uint64_t lines, struct err *e);
/* Decodes the journal's last whole line, without checking its hash. Returns false if there is none,
 * or it cannot be read; `e` stays empty if the journal is empty. Release `out` in any case. */
bool recover_last(int fd, struct line *out, struct err *e);
/* The contents of a journal's first line. */
struct begun {
	/* There is a `begin` line; the rest is valid only then. */
	bool begun;
	char digest[POSITION_DIGEST_BYTES]; /* of the bundle */
	char workspace[PATH_MAX];           /* "": from before it was recorded */
};
int recover_begun(const struct instance *instance, struct begun *out, struct err *e);
#endif
