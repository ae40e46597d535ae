/*
 * Recovery: from an instance's files to the position its journal adds up to.
 */
#ifndef RUN_RECOVER_H
#define RUN_RECOVER_H
#include "run/instance.h"
#include "run/journal.h"
#include "run/position.h"

enum recover_end { RECOVER_DONE, RECOVER_DAMAGED, RECOVER_BROKEN };

/* Applies every line of the journal `fd` behind the snapshot, if `use_snapshot` and there is one.
 * `each` (may be NULL) sees the position after each line; true ends the reading there. *p is to be
 * released in any case; *at is where the next line goes, `torn_bytes` what lies behind it. */
struct recovery {
	const struct instance *instance;
	const struct machine *machine;
	int fd;
	bool use_snapshot, foreign;
	bool (*each)(void *ctx, const json_t *event, const struct position *p);
	void *ctx;
	struct position position;
	struct journal_mark at;
	int64_t torn_bytes;
};
enum recover_end recover(struct recovery *r, struct err *e);
#endif
