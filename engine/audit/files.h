/*
 * The files of an audit trail: their names, order, locks and ends. Private to engine/audit.
 */
#ifndef AUDIT_FILES_H
#define AUDIT_FILES_H
#include "audit/audit.h"
#include "base/sha256.h"

enum {
	AUDIT_DAY_BYTES = 9, /* YYYYMMDD */
	AUDIT_ROTATED_BYTES = AUDIT_NAME_BYTES + 32,
	AUDIT_FILES_MAX = 4096
};

/* Rotated files in the order they were written. */
struct audit_files {
	char (*names)[AUDIT_ROTATED_BYTES];
	size_t count;
};

/* For who writes: a descriptor, which is closed to release it. */
int audit_lock(const struct audit *audit, struct err *e);
/* For who reads. *lock is -1 where the reader may not write there and nobody left a lock file: on a
 * file system mounted read-only, in a copy. */
int audit_lock_shared(const struct audit *audit, int *lock, struct err *e);
int audit_files_list(const struct audit *audit, struct audit_files *out, struct err *e);
void audit_files_done(struct audit_files *files);
/* The name that a file of that day takes; -1: a day has no more. */
int audit_file_name(const struct audit *audit, const char *day, char out[AUDIT_ROTATED_BYTES]);
/* The day in a rotated file's name. */
void audit_file_day(const struct audit *audit, const char *name, char day[AUDIT_DAY_BYTES]);
/* The day of an RFC 3339 instant. */
void audit_day(const char *instant, char day[AUDIT_DAY_BYTES]);

/* Where the whole lines of a file end, and the chain value there. An empty file: 0 and `chain`
 * untouched. -1: its end is not a line of ours. */
int audit_end(int fd, const char *name, int64_t *end, char chain[SHA256_HEX + 1], struct err *e);
/* `prev` and `ts` of a file's first line. -1: it has none. */
int audit_first(int fd, const char *name, char prev[SHA256_HEX + 1], char day[AUDIT_DAY_BYTES],
	struct err *e);
#endif
