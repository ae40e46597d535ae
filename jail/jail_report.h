/*
 * The report of what was applied and what went wrong: one shared page, written by the launcher, the
 * reaper and the command until it executes, read by the launcher alone.
 *
 * Attack: a forged result. execve unmaps the page from the command, so no descriptor exists that a
 * jailed process could find in /proc and write an answer to.
 */
#ifndef JAIL_JAIL_REPORT_H
#define JAIL_JAIL_REPORT_H
#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* type, name, in the order of the names. Reported in the status line under "layers". A policy may
 * "require" each: a number is a minimum, a flag must be true, a word must be equal. */
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

struct jail_report {
	struct layers layers;
	const char *stage;  /* the step that failed; NULL: none did */
	struct err why;     /* its cause */
	bool moved;         /* a socket or pipe that was to be covered had gone */
	bool set_up;        /* every step succeeded; the rest is the command's doing */
	int exec_errno;     /* the command could not be executed */
	bool uninterpreted; /* the program is there, but its interpreter is not */
	bool ended;         /* the command has ended */
	int wait_status;    /* how it ended, as for wait(2) */
	bool timed_out;     /* it was killed for its time-out */
	bool lost;          /* it was killed because the launcher had to end */
	const char *limit;  /* the policy's limit that stopped it; NULL: none did */
	bool full;          /* it once had as many processes as it may have */
	int64_t wall_ms;    /* how long it took */
	struct rusage used; /* by everything that ran, once it has ended */
};

/* Makes the page. Without memory for it nothing can be reported: the program then ends with 125. */
struct jail_report *jail_report_new(void);
/* Records a failed step; the first one stays. Always returns -1. */
int jail_report_fail(struct jail_report *report, const char *stage, const struct err *why);
/* Adds all layers as a JSON object. */
void jail_report_layers(const struct layers *layers, struct buf *buf);
#endif
