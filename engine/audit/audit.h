/*
 * The audit trail: what commands were proposed, decided and run, for all instances of a state
 * directory in one place.
 *
 * `audit.jsonl` holds lines chained as a journal's are. Its first line, `opened`, carries the chain
 * value of the file before it in `prev`. At the first line of a new UTC day the file is renamed to
 * audit-YYYYMMDD.jsonl (the day it began) and the next one goes on; files older than the retention
 * are removed whole. Writers and readers hold `audit.jsonl.lock`. It cannot be switched off.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H
#include "base/err.h"
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define AUDIT_TYPES(X)                                                                             \
	X(OPENED, "opened")                                                                        \
	X(PROPOSED, "proposed")                                                                    \
	X(APPROVED, "approved")                                                                    \
	X(DENIED, "denied")                                                                        \
	X(BLOCKED, "blocked")                                                                      \
	X(EXECUTED, "executed")                                                                    \
	X(FAILED, "failed")                                                                        \
	X(SANDBOX_VIOLATION, "sandbox_violation")                                                  \
	X(SECRET_FILTERED, "secret_filtered")                                                      \
	X(INJECTION_DETECTED, "injection_detected")                                                \
	X(EGRESS_REFUSED, "egress_refused")

enum audit_type {
#define X(type, name) AUDIT_##type,
	AUDIT_TYPES(X)
#undef X
		AUDIT_TYPE_COUNT
};

enum { AUDIT_NAME_BYTES = 256 };

struct config;

struct audit {
	int dir_fd;                  /* of the directory that holds the file; owned */
	char name[AUDIT_NAME_BYTES]; /* "audit.jsonl" */
};

const char *audit_type_name(enum audit_type type);
/* AUDIT_TYPE_COUNT: there is none of that name. */
enum audit_type audit_type_find(const char *name);

/* Where it lies: audit.path, or in the state directory. */
void audit_path(const struct config *config, char path[PATH_MAX]);
/* `path`: absolute. Nothing is created. */
int audit_open(const char *path, struct audit *out, struct err *e);
void audit_done(struct audit *audit);
/* Appends one line per object of `lines` (each with `t`, `seq` and what belongs to it; `ts` is put
 * in), durably, after rotating when the day has changed. -1: none of them is there. A file whose
 * last whole line is not one of ours is damaged, and nothing is added to it. */
int audit_append(const struct audit *audit, json_t *lines, struct err *e);
/* Removes rotated files that began more than `days` days before today. */
int audit_retain(const struct audit *audit, int64_t days, struct err *e);

struct audit_reader {
	/* One line: its text without newline, and decoded without its hash. Returning -1 stops. */
	int (*line)(void *ctx, const char *text, size_t len, const json_t *fields);
	void *ctx;
	uint64_t lines, files;
	int64_t torn_bytes; /* of an unfinished last line */
};
/* All files in order, every line's chain and every file's link to the one before it checked. -1:
 * the reader's own -1 with `e` empty, or damage, named by file and line. */
int audit_read(const struct audit *audit, struct audit_reader *reader, struct err *e);
#endif
