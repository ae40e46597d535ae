/*
 * The audit trail: a record of the commands that were proposed, decided and run, in one place for
 * all instances of a state directory.
 *
 * `audit.jsonl` holds lines chained as in a journal. Its first line, `opened`, carries the chain
 * value of the file before it in `prev`. At the first line of a new UTC day the file is renamed to
 * audit-YYYYMMDD.jsonl (the day it began) and a new one begins; files older than the retention are
 * removed whole. Writers and readers hold `audit.jsonl.lock`. The trail cannot be switched off.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H
#include "base/err.h"
#include "contract/event.h"
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { AUDIT_NAME_BYTES = 256 };

struct config;

struct audit {
	int dir_fd;                  /* the directory that holds the file; owned */
	char name[AUDIT_NAME_BYTES]; /* "audit.jsonl" */
};

/* Writes the path of the trail: audit.path, or a file in the state directory. */
void audit_path(const struct config *config, char path[PATH_MAX]);
/* Opens the trail at `path`, which is absolute. Creates nothing. */
int audit_open(const char *path, struct audit *out, struct err *e);
void audit_done(struct audit *audit);
/* Appends one line per object of `lines` (each with `t`, `seq` and its own members; `ts` is added),
 * durably, after rotating if the day has changed. -1: none of them was written. A file whose last
 * whole line is not a line of the trail is damaged, and nothing is added to it. */
int audit_append(const struct audit *audit, json_t *lines, struct err *e);
/* Removes rotated files that began more than `days` days before today. */
int audit_retain(const struct audit *audit, int64_t days, struct err *e);

struct audit_reader {
	/* Takes one line: its text without newline, and its fields without the hash. Returns -1 to
	 * stop. */
	int (*line)(void *ctx, const char *text, size_t len, const json_t *fields);
	void *ctx;
	uint64_t lines, files;
	int64_t torn_bytes; /* bytes of an unfinished last line */
};
/* Reads all files in order, and checks the chain of every line and the link of every file to the
 * one before. Returns -1 with `e` empty if the reader stopped; or -1 for damage, named by file and
 * line. */
int audit_read(const struct audit *audit, struct audit_reader *reader, struct err *e);
#endif
