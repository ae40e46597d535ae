/*
 * Finds the sockets and named pipes that lie in a granted tree.
 *
 * Attack: a service's socket inside the workspace. A named socket crosses network namespaces,
 * read-only mounts and (below ABI 9) Landlock: connecting to it leaves the jail.
 */
#ifndef JAIL_SCAN_H
#define JAIL_SCAN_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

enum { SCAN_ENTRIES_MAX = 200000, SCAN_FOUND_MAX = 1024, SCAN_DEPTH_MAX = 128 };

struct scan {
	char **path; /* found; owned */
	size_t count, entries;
	bool cut; /* a limit was hit: there may be more, and unix sockets must stay closed */
};

void scan_init(struct scan *s);
void scan_done(struct scan *s);
/* Adds what lies below `path`. Directories that cannot be read are cut, not errors. */
int scan_tree(struct scan *s, const char *path, struct err *e);
#endif
