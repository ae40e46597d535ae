/*
 * What git prints, taken apart. Pure. A repository's names are anybody's, and so is what they make
 * git print: whatever is not of the expected form is passed over or refused.
 */
#ifndef GIT_PARSE_H
#define GIT_PARSE_H
#include "git/git.h"

/* The object's name that the output begins with, SHA-1 or SHA-256. -1: there is none. */
int parse_oid(const char *text, char oid[GIT_OID_BYTES]);
/* Of `for-each-ref --format='%(refname) %(objectname)'`: the object of exactly `ref`; "": it is not
 * listed. -1: it is, and without one. */
int parse_ref(const struct buf *list, const char *ref, char oid[GIT_OID_BYTES]);
/* Of `worktree list --porcelain -z`: where `ref` is checked out; NULL: nowhere. */
const char *parse_checkout(const struct buf *list, const char *ref);
/* The paths that the work tree has otherwise than the index, each ended by NUL, by whether it still
 * has them; repositories in it are left out and counted. */
struct changes {
	struct buf there, gone;
	size_t left_out;
};
/* Of `status --porcelain=v1 -z --no-renames`; the buffers have their limits. */
int parse_changes(const struct buf *list, struct changes *out);
/* Of `check-attr -z filter`: the next path with a filter behind *at, which moves on. NULL: none. */
const char *parse_filter(const struct buf *list, size_t *at, const char **filter);
/* Of `config --list --show-scope -z`: "KEY\nVALUE\0" entries but for our own ("command") to `out`.
 */
int parse_settings(const struct buf *list, struct buf *out);
#endif
