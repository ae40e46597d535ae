/*
 * Whole directory trees: removed, or copied within limits. Links are never followed.
 */
#ifndef BASE_TREE_H
#define BASE_TREE_H
#include "base/err.h"
#include <stdint.h>

enum { TREE_DEPTH_MAX = 128 };

/* Removes `name` in `dir_fd` and everything below it, with directories of any mode and depth. A
 * missing entry, or one that another process removes meanwhile, is no error. */
int tree_remove(int dir_fd, const char *name, struct err *e);

/* Lets the owner read everything below `dir_fd`, and list and change its directories, except `.git`
 * at the top. */
int tree_open_up(int dir_fd, struct err *e);

struct tree_cap {
	uint64_t files, bytes; /* counted down */
};
/* Copies files, directories and symbolic links (as they are) from one directory into another, which
 * is empty. `.git` at the top, sockets, FIFOs and devices are left out. Crossing a limit is an
 * error that names it, and then nothing is written unless the files grow meanwhile. */
int tree_copy(int from, int to, struct tree_cap *cap, struct err *e);

/* Moves `name` from one directory to another that does not have it: a file, a link or a directory
 * with everything below it, whatever its permissions. To another file system it is copied, at most
 * TREE_MOVE_BYTES, without sockets, FIFOs and devices. */
enum { TREE_MOVE_FILES = 200000 };
#define TREE_MOVE_BYTES (UINT64_C(4) << 30)
int tree_move(int from, const char *name, int to, struct err *e);
#endif
