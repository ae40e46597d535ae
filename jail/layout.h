/*
 * The layout: every place of the new root, as one sorted list that is built, mounted and opened to
 * Landlock in order. It is computed from the policy before anything is mounted.
 *
 * Attack: a protected directory freed by renaming its parent. Every directory between a writable
 * grant and a protected place below it gets a place of its own (a pin): a mount point cannot be
 * renamed or removed.
 */
#ifndef JAIL_LAYOUT_H
#define JAIL_LAYOUT_H
#include "jail/policy.h"

/* The kind of a place; if two kinds meet at one path, the earlier one here wins. */
enum place_kind {
	PLACE_HIDE,   /* an empty file or directory */
	PLACE_MASK,   /* an empty file over a socket or pipe */
	PLACE_READ,   /* read-only, recursively */
	PLACE_PIN,    /* writable, mounted only so that it cannot be renamed */
	PLACE_WRITE,  /* writable */
	PLACE_DEVICE, /* one of the five harmless devices, or the jail's own terminal */
	PLACE_TMPFS,  /* private memory */
	PLACE_PROC,   /* the PID namespace's own */
	PLACE_PTS,    /* pseudo-terminals of its own */
};

struct place {
	const char *path; /* in the layout's text */
	enum place_kind kind;
	bool grant;        /* named by the policy: must exist, and is id-mapped for root */
	bool directory;    /* known once opened */
	bool shared;       /* everybody may open it: done where it is mounted, see rootfs.c */
	bool link;         /* it is a symbolic link on the host: made, not mounted */
	bool repository;   /* held because version control would execute its settings */
	int tree_fd;       /* detached tree to put there, or -1; owned */
	uint64_t dev, ino; /* of a grant: when it was laid out; of others: when it was opened */
	/* The deepest place that strictly contains it, pins aside; NULL: the new root itself. */
	struct place *above;
};

enum { LAYOUT_PLACES_MAX = 4096, LAYOUT_TEXT_MAX = 1024 * 1024 };

struct layout {
	struct place place[LAYOUT_PLACES_MAX]; /* sorted: each before its contents */
	size_t count;
	char text[LAYOUT_TEXT_MAX];
	size_t text_len;
	const char *missing[POLICY_PATHS_MAX]; /* protected paths that do not exist (yet) */
	size_t missing_count;
	bool scan_cut; /* a socket has moved meanwhile: unix sockets must stay closed */
};

/* The aims of a search of the grants. */
enum scan {
	SCAN_NOTHING = 0,
	SCAN_SERVICES = 1,     /* sockets and pipes, to cover them */
	SCAN_REPOSITORIES = 2, /* repositories that may be written, to hold them */
};

/* Computes a layout. Layouts are large: make them static. `layout` is overwritten, and needs no
 * layout_done until its trees are opened. `scan`: of enum scan. An incomplete search is an error
 * that names the place; the rest is still filled in. */
int layout_init(struct layout *layout, const struct policy *policy, int scan, struct err *e);
/* Returns the deepest place that contains `path`; NULL: there is none. */
const struct place *layout_deepest(const struct layout *layout, const char *path);
/* Closes the trees. */
void layout_done(struct layout *layout);
int layout_add(struct layout *layout, const char *path, struct place place, struct err *e);
/* Reports whether both have the same places with the same files: a jail built for one is right for
 * the other. */
bool layout_same(const struct layout *a, const struct layout *b);
/* Reports whether programs at this place may run, unless the host mounts it noexec: everywhere but
 * in /dev and /proc, as on the host. */
bool layout_executes(const struct place *place);
int layout_count(const struct layout *layout, enum place_kind kind);

/* Adds a place for everything at and below `path` that `scan` asks for (scan.c). Returns -1 if a
 * part could not be read, or there is too much. */
int scan_tree(struct layout *layout, const struct policy *policy, int scan, const char *path,
	struct err *e);
/* Reports whether git takes the directory itself for a repository. Returns -1 with errno when that
 * cannot be told. */
int scan_is_git_dir(int dir_fd);
#endif
