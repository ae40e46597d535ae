/*
 * The layout: every place of the new root, as one sorted list that is built, mounted and opened to
 * Landlock in order. Computed from the policy before anything is mounted.
 *
 * Attack: a protected directory freed by renaming its parent. Every directory between a writable
 * grant and a place that must hold still below it gets a place of its own (a pin): a mount point
 * cannot be renamed or removed.
 */
#ifndef JAIL_LAYOUT_H
#define JAIL_LAYOUT_H
#include "jail/policy.h"
#include <limits.h>

/* What lies at a place; where two claims meet on one path the earlier kind here wins. */
enum place_kind {
	PLACE_HIDE,   /* an empty file or directory */
	PLACE_MASK,   /* an empty file over a socket or pipe */
	PLACE_READ,   /* read-only, recursively */
	PLACE_PIN,    /* writable, only there to hold still */
	PLACE_WRITE,  /* writable */
	PLACE_TMPFS,  /* private memory */
	PLACE_PROC,   /* the PID namespace's own */
	PLACE_DEVICE, /* one of the five harmless devices */
};

struct place {
	char *path;
	enum place_kind kind;
	bool exec;
	bool optional;  /* absent on the host: no place */
	bool grant;     /* named by the policy: to be id-mapped for root */
	bool directory; /* known once opened */
	char *link;     /* it is a symbolic link on the host, with this text; nothing is mounted */
	int tree_fd;    /* detached tree to put there, or -1 */
	uint64_t dev, ino; /* of a grant: when it was laid out */
};

enum { LAYOUT_PLACES_MAX = 4096 };

struct layout {
	struct place *place; /* sorted by path: what contains comes before what it contains */
	size_t count;
	const char *missing[POLICY_PATHS_MAX]; /* protected paths that do not exist (yet) */
	size_t missing_count;
	bool scan_cut;
};

#define AUTO_LAYOUT __attribute__((cleanup(layout_done))) struct layout

int layout_init(struct layout *l, const struct policy *p, struct err *e);
void layout_done(struct layout *l);
/* The deepest place that strictly contains `path`, pins aside; NULL: the new root itself. */
const struct place *layout_above(const struct layout *l, const char *path);
/* Whether both describe the same places with the same files at them: a jail built for one is right
 * for the other. */
bool layout_same(const struct layout *a, const struct layout *b);
size_t layout_count(const struct layout *l, enum place_kind kind);
#endif
