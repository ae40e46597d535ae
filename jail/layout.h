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

/* What lies at a place; where two claims meet on one path the earlier kind here wins. */
enum place_kind {
	PLACE_HIDE,   /* an empty file or directory */
	PLACE_MASK,   /* an empty file over a socket or pipe */
	PLACE_READ,   /* read-only, recursively */
	PLACE_PIN,    /* writable, only there to hold still */
	PLACE_WRITE,  /* writable */
	PLACE_DEVICE, /* one of the five harmless devices, or the own terminal */
	PLACE_TMPFS,  /* private memory */
	PLACE_PROC,   /* the PID namespace's own */
	PLACE_PTS,    /* pseudo-terminals of its own */
};

struct place {
	const char *path; /* in the layout's text */
	enum place_kind kind;
	bool grant; /* named by the policy: to be id-mapped for root; what is not may be absent */
	bool directory;    /* known once opened */
	bool link;         /* it is a symbolic link on the host: made, not mounted */
	bool repository;   /* held because version control would execute what it says */
	int tree_fd;       /* detached tree to put there, or -1; owned */
	uint64_t dev, ino; /* of a grant: when it was laid out; else when it was opened */
	/* The deepest that strictly contains it, pins aside; NULL: the new root itself. */
	struct place *above;
};

enum { LAYOUT_PLACES_MAX = 4096, LAYOUT_TEXT_MAX = 1024 * 1024 };

struct layout {
	struct place place[LAYOUT_PLACES_MAX]; /* sorted: what contains comes before its contents */
	size_t count;
	char text[LAYOUT_TEXT_MAX];
	size_t text_len;
	const char *missing[POLICY_PATHS_MAX]; /* protected paths that do not exist (yet) */
	size_t missing_count;
	bool scan_cut; /* a socket has moved meanwhile: unix sockets must stay closed */
};

/* What the grants are searched for. */
enum scan {
	SCAN_NOTHING = 0,
	SCAN_SERVICES = 1,     /* sockets and pipes, to be covered */
	SCAN_REPOSITORIES = 2, /* to be held, where they may be written */
};

/* Layouts are large: static ones. `layout` is overwritten, and holds nothing to give back until its
 * trees are opened. `scan`: of enum scan. A search that could not be made whole is an error that
 * names the place; the rest is found all the same. */
int layout_init(struct layout *layout, const struct policy *policy, int scan, struct err *e);
/* The deepest place in which `path` lies; NULL: it lies in none. */
const struct place *layout_deepest(const struct layout *layout, const char *path);
/* Closes the trees. */
void layout_done(struct layout *layout);
int layout_add(struct layout *layout, const char *path, struct place place, struct err *e);
/* Whether both describe the same places with the same files at them: a jail built for one is right
 * for the other. */
bool layout_same(const struct layout *a, const struct layout *b);
/* Reports whether programs at this place may run, unless the host mounts it noexec: everywhere but
 * in /dev and /proc, as on the host. */
bool layout_executes(const struct place *place);
int layout_count(const struct layout *layout, enum place_kind kind);

/* scan.c: adds a place for everything below `path`, itself included, that `scan` asks for. -1: some
 * of it could not be read, or is too much. */
int scan_tree(struct layout *layout, const struct policy *policy, int scan, const char *path,
	struct err *e);
/* Whether git takes the directory for a repository as it is. */
bool scan_is_git_dir(int dir_fd);
#endif
