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

/* Rotated files in the order in which they were written. */
struct audit_files {
	char (*names)[AUDIT_ROTATED_BYTES];
	size_t count;
};

/* Locks the trail for a writer. Returns a descriptor; closing it releases the lock. */
int audit_lock(const struct audit *audit, struct err *e);
/* Locks the trail for a reader. *lock is -1 if the reader may not write there and there is no lock
 * file, as on a read-only file system or in a copy. */
int audit_lock_shared(const struct audit *audit, int *lock, struct err *e);
int audit_files_list(const struct audit *audit, struct audit_files *out, struct err *e);
void audit_files_done(struct audit_files *files);
/* Writes the name for a file of that day. Returns -1 if the day has used up its names. */
int audit_file_name(const struct audit *audit, const char *day, char out[AUDIT_ROTATED_BYTES]);
/* Copies the day from a rotated file's name. */
void audit_file_day(const struct audit *audit, const char *name, char day[AUDIT_DAY_BYTES]);
/* Copies the day of an RFC 3339 instant. */
void audit_day(const char *instant, char day[AUDIT_DAY_BYTES]);

/* Finds the end of the whole lines of a file, and the chain value there. An empty file: 0, and
 * `chain` is not changed. Returns -1 if the file does not end in a line of the trail. */
int audit_end(int fd, const char *name, int64_t *end, char chain[SHA256_HEX + 1], struct err *e);
/* Reads `prev` and the day of `ts` from a file's first line. Returns -1 if there is none. */
int audit_first(int fd, const char *name, char prev[SHA256_HEX + 1], char day[AUDIT_DAY_BYTES],
	struct err *e);
#endif
