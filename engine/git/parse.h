/*
 * Parses git's output. Pure. Anybody can choose names in a repository, and so parts of the output:
 * whatever does not have the expected form is skipped or refused.
 */
#ifndef GIT_PARSE_H
#define GIT_PARSE_H
#include "git/git.h"

/* Parses the object name, SHA-1 or SHA-256, at the beginning of the output. Returns -1 if there is
 * none. */
int parse_oid(const char *text, char oid[GIT_OID_BYTES]);
/* Parses `for-each-ref --format='%(refname) %(objectname)'`: finds the object of exactly `ref`; "":
 * it is not listed. Returns -1 if it is listed without an object. */
int parse_ref(const struct buf *list, const char *ref, char oid[GIT_OID_BYTES]);
/* Parses `worktree list --porcelain -z`: returns the path where `ref` is checked out; NULL:
 * nowhere. */
const char *parse_checkout(const struct buf *list, const char *ref);
/* The paths in the work tree that differ from the index, each ended by NUL: those that exist, and
 * those that are gone. Repositories among them are left out and counted. */
struct changes {
	struct buf there, gone;
	size_t left_out;
};
/* Parses `status --porcelain=v1 -z --no-renames`. The buffers have their limits. */
int parse_changes(const struct buf *list, struct changes *out);
/* Parses `check-attr -z filter`: returns the next path with a filter from *at on, and moves *at.
 * NULL: there is none. */
const char *parse_filter(const struct buf *list, size_t *at, const char **filter);
/* Parses `config --list --show-scope -z`: copies the entries "KEY\nVALUE\0" to `out`, without our
 * own ("command"). */
int parse_settings(const struct buf *list, struct buf *out);
#endif
