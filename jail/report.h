/*
 * What was applied and what went wrong: one shared page, written by the launcher, the reaper and
 * the command until it executes, read by the launcher alone.
 *
 * Attack: a forged result. The page is unmapped from the command by execve, so no descriptor exists
 * that a jailed process could find in /proc and write an answer into.
 */
#ifndef JAIL_REPORT_H
#define JAIL_REPORT_H
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* type, name, in the order of the names. Reported in the status line under "layers"; the names are
 * also what a policy may "require": a number at least, a flag true, a word equal. */
#define REPORT_LAYERS(X)                                                                           \
	X(bool, capabilities)       /* all dropped; strict: securebits locked; read back */        \
	X(bool, idmap)              /* writable trees carry the owner's id on disk */              \
	X(bool, keyring)            /* an own, empty one */                                        \
	X(int, landlock)            /* ABI in force, 0: none */                                    \
	X(bool, landlock_scopes)    /* abstract sockets and signals stay inside */                 \
	X(int, masked)              /* sockets and pipes covered */                                \
	X(const char *, memory)     /* rlimit, watch, cgroup */                                    \
	X(const char *, namespaces) /* those entered */                                            \
	X(const char *, network)    /* none, proxy, host */                                        \
	X(bool, no_new_privs)                                                                      \
	X(int, pinned)             /* directories above protected paths */                         \
	X(const char *, proc)      /* read-only, none, host */                                     \
	X(const char *, processes) /* rlimit, cgroup */                                            \
	X(const char *, profile)   /* strict, hardened */                                          \
	X(bool, protect)           /* protected paths are read-only */                             \
	X(bool, reaper)            /* nothing outlives the command */                              \
	X(const char *, scan)      /* whole, cut, none: the search for sockets in the grants */    \
	X(int, seccomp)            /* filters in force */                                          \
	X(const char *, uid)       /* mapped: to an unused one; same: the caller's; owner; root */ \
	X(const char *, unix_sockets) /* open, closed */                                           \
	X(bool, userns_limit)         /* no user namespace can be made inside, by sysctl too */    \
	X(bool, watches)              /* at most half of the user's inotify watches */

struct layers {
#define REPORT_FIELD(type, name) type name;
	REPORT_LAYERS(REPORT_FIELD)
#undef REPORT_FIELD
};

struct report {
	struct layers layers;
	const char *stage;  /* of the step that failed, NULL: none did */
	struct err why;     /* its cause */
	bool moved;         /* a socket or pipe was gone when it was to be covered */
	bool set_up;        /* every step held; what follows is the command's own doing */
	int exec_errno;     /* the command could not be executed */
	bool uninterpreted; /* it is there, and what is to interpret it is not */
	bool ended;         /* the command has ended, as */
	int wait_status;    /* wait(2) has it */
	bool timed_out;     /* and was killed for it */
	bool lost;          /* and was killed because the launcher had to end */
	const char *limit;  /* of the policy, that stopped it; NULL: none did */
	bool full;          /* at one time it had all the processes that it may have */
	int64_t wall_ms;    /* how long it took */
	struct rusage used; /* by everything that ran, once it has ended */
};

/* The page. Without memory for it nothing can be told: the program ends with 125. */
struct report *report_new(void);
/* Records a failed step; the first one stays. Always -1. */
int report_fail(struct report *report, const char *stage, const struct err *why);
/* Adds the layers as a JSON object, all of them. */
void report_layers(const struct layers *layers, struct buf *buf);
#endif
