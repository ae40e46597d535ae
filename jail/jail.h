/*
 * The state of one confinement, handed from step to step. A step is one function that returns 0, or
 * -1 with the cause; main.c lists the steps in order and names each failure by its step.
 */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H
#include "jail/layout.h"
#include "jail/policy.h"
#include "jail/report.h"
#include <sys/types.h>

/* Who the command is inside a strict jail, and how long an id list the kernel knows on disk. */
enum { JAIL_UID = 1000, JAIL_GID = 1000, DISK_IDS = 65536 };
/* Unused host ids for the jails of root, just below 2^31: nothing allocates there. */
enum { HOST_IDS_BASE = 0x7ffd0000, HOST_ID = 0x7ffdffff };

struct jail {
	struct policy policy;
	struct layout layout;
	struct report *report;
	const struct step *command; /* steps of the command's own process */
	bool as_root;               /* started by the host's uid 0, with all ids at hand */
	uid_t host_uid;             /* the command's ids as the host sees them */
	gid_t host_gid;
	int landlock_abi; /* asked once */
	int alive_fd;     /* hangs up when the launcher, or all of the jail, is gone */
	int ready_fd;     /* one byte once the id maps are written */
	int order_fd;     /* serve: where the command comes from; -1: the policy has it */
	int root_fd;      /* the new root */
	char *groups[3];  /* cgroups to remove; owned */
	int group_fd;     /* of the one to start PID 1 in, or -1 */
	size_t group_count;
	char *temp_dir;       /* hardened: private, removed afterwards */
	uint64_t users_tasks; /* hardened: what the command's user ran before it */
	pid_t child;          /* PID 1 (strict) or the command (hardened) */
	int child_pidfd;
};

typedef int step_fn(struct jail *j, struct err *e);

struct step {
	const char *stage; /* NULL ends a list */
	step_fn *run;
};

struct outcome;

/* Builds the jail: in the strict profile its PID 1 works on in the background. A failure is in the
 * report. */
int jail_start(struct jail *j);
/* Waits for its end, at most the policy's time: afterwards no process of it is left but its PID 1,
 * which the kernel is taking down. */
void jail_wait(struct jail *j, struct outcome *out);
/* Waits for that too, and removes what is left on the host. */
void jail_clean(struct jail *j);
/* Runs them in order; the first failure is recorded in the report. */
int jail_steps(struct jail *j, const struct step *steps);

/* One line per layer; the file of the same name says what it stops. */
step_fn grants_open_as_root, grants_open;                               /* grants.c */
step_fn namespaces_enter, namespaces_become, namespaces_limit;          /* namespaces.c */
step_fn network_prepare;                                                /* network.c */
step_fn rootfs_build, rootfs_enter;                                     /* rootfs.c */
step_fn limits_count, limits_apply, session_apply;                      /* limits.c */
step_fn landlock_ask, landlock_apply;                                   /* landlock.c */
step_fn privileges_drop, privileges_fix;                                /* privileges.c */
step_fn seccomp_apply;                                                  /* seccomp.c */
step_fn reaper_run;                                                     /* reaper.c */
step_fn serve_take;                                                     /* serve.c */
step_fn command_check, command_require, command_close, command_execute; /* command.c */
#endif
