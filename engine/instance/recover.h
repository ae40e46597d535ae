/*
 * Recovery: from an instance's files to the position its journal adds up to.
 */
#ifndef INSTANCE_RECOVER_H
#define INSTANCE_RECOVER_H
#include "instance/instance.h"
#include "instance/position.h"
#include "journal/journal.h"
#include <limits.h>

/* Behind what is wrong with a line. */
#define RECOVER_HOW_ON "; bring the file back from a copy, or begin again under another --id"

/* A journal shorter than this is replayed from its start, snapshot or not: that takes some tens of
 * milliseconds, and then damage anywhere in it is noticed. */
enum { RECOVER_SNAPSHOT_BYTES = 1024 * 1024 };

enum recover_end { RECOVER_DONE, RECOVER_DAMAGED, RECOVER_BROKEN };

/* Applies every line of the journal `fd`, or those behind the snapshot where the journal in front
 * of it is at least `snapshot_bytes` long (-1: the snapshot is not used). `each` (may be NULL) sees
 * the position after each line; true ends the reading there. `position` is to be released in
 * any case; `at` is where the next line goes, `read_bytes` what was read up to there, `torn_bytes`
 * what lies behind it. */
struct recovery {
	const struct instance *instance;
	const struct machine *machine;
	int fd;
	int64_t snapshot_bytes;
	bool foreign;
	int patience_ms; /* as the journal's reader has it */
	bool (*each)(void *ctx, const json_t *event, const struct position *p);
	void *ctx;
	struct position position;
	struct journal_mark at;
	int64_t read_bytes, torn_bytes;
};
enum recover_end recover(struct recovery *recovery, struct err *e);
/* Refuses a journal (fd -1: none) whose `lines` are fewer than it had when its snapshot was
 * written: the rest was committed. The chain cannot tell: what was cut at a line's end is a sound
 * one. */
int recover_whole(const struct instance *instance, int fd, uint64_t lines, struct err *e);
/* What the first line of a journal says. */
struct begun {
	bool begun;                         /* there is one, a `begin`; the rest counts only then */
	char digest[POSITION_DIGEST_BYTES]; /* of the bundle */
	char workspace[PATH_MAX];           /* "": written before it was recorded */
};
int recover_begun(const struct instance *instance, struct begun *out, struct err *e);
#endif
