/*
 * The state of one confinement, passed from step to step. A step is one function that returns 0, or
 * -1 with the cause; main.c lists the steps in order and names each failure by its step.
 */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H
#include "jail/jail_report.h"
#include "jail/layout.h"
#include "jail/leave_out.h"
#include "jail/policy.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* The command's id inside a strict jail, and the number of ids that are mapped on disk. */
enum { JAIL_ID = 1000, DISK_IDS = 65536, MIB = 1024 * 1024 };
/* Unused host ids for the jails of root, just below 2^31, where nobody allocates ids. */
enum { HOST_IDS_BASE = 0x7ffd0000, HOST_ID = 0x7ffdffff };

/* Makes the kernel, out of memory, kill jailed processes before other programs; and the launcher of
 * a single strict jail (cgroup.c), whose jail then ends too. */
#define OOM_FIRST "oom_score_adj", "1000"

/* Advice if a command would run as root. */
#define NOT_AS_ROOT                                                                                \
	"run as an ordinary user, or set \"allow_root_jail\" (--allow-root-jail of machine run "   \
	"and jail)"

/* The kinds of uid 0. In a user namespace (a rootless container) root is an ordinary user to the
 * host, unless the namespace maps 0 to 0. */
enum root_kind { ROOT_NOT, ROOT_HOST, ROOT_CONFINED };

struct jail {
	struct policy policy;
	struct layout layout;
	struct jail_report *report;
	bool strict;
	enum root_kind root;
	uid_t host_uid; /* the command's ids as the host sees them */
	gid_t host_gid;
	int landlock_abi; /* the kernel's, looked up once */
	int ruleset_fd;   /* Landlock's, or -1 */
	/* Strict: the launcher's end of a pair; hangs up when all of the jail has ended. */
	int alive_fd;
	int first_fd;    /* PID 1's end; hangs up when the launcher has ended */
	int parent_fd;   /* the process that started this launcher; -1: serve, or unknown */
	int asked_fd;    /* signals that ask it to end */
	int asked;       /* the signal that did */
	int life_fd;     /* serve: hangs up when the resident launcher has gone; -1 */
	int order_fd;    /* serve: the command comes through it; -1: it is in the policy */
	char *groups[3]; /* cgroups to remove; owned */
	int group_count;
	int group_fd;         /* the first group, to start PID 1 in; or -1 */
	char *temp_dir;       /* hardened: private, removed afterwards; owned */
	int children_fd;      /* hardened: the kernel's list of the launcher's children */
	uint64_t users_tasks; /* hardened: tasks of the command's user outside the jail */
	char **argv, **env;   /* the command's, in its own process; argv from 1 on */
	pid_t launcher;       /* hardened: must be the command's parent */
	pid_t child;          /* PID 1 (strict) or the command (hardened) */
	int child_pidfd;
	int placeholder_fd; /* an empty .git, which stays while this is locked; or -1 */
	json_t *planted;    /* repositories that the command made, NULL: none; owned */
	struct err left;    /* why some may be left where they were made */
	bool stuck;         /* one could not be moved, and a later search would not report it */
};

typedef int step_fn(struct jail *jail, struct err *e);

struct jail_step {
	int profiles;      /* the profiles that need it */
	const char *stage; /* NULL ends a list */
	step_fn *run;
};

/* The layers, one line each; the file of that name tells what it stops. */
step_fn grants_open_as_root, grants_open;                      /* grants.c */
step_fn cgroup_prepare;                                        /* cgroup.c */
step_fn namespaces_enter, namespaces_become, namespaces_limit; /* namespaces.c */
step_fn network_begin, network_enter;                          /* network.c */
step_fn rootfs_build, rootfs_enter;                            /* rootfs.c */
step_fn limits_count, limits_apply, session_apply;             /* limits.c */
step_fn landlock_ask, landlock_allow, landlock_apply;          /* landlock.c */
step_fn privileges_drop, privileges_fix;                       /* privileges.c */
step_fn seccomp_apply;                                         /* seccomp.c */
step_fn reaper_begin, reaper_run;                              /* reaper.c */
step_fn hardened_prepare, hardened_start, hardened_become;     /* hardened.c */
step_fn serve_take, serve_begin;                               /* serve.c */
step_fn placeholder_hold;                                      /* placeholder.c */
step_fn report_require;                                        /* report.c */
step_fn command_check, command_close, command_stdio;           /* command.c */
step_fn command_arguments, command_execute;

/* --- grants.c ------------------------------------------------------------------------------- */
/* Opens the place on the host, through no link, and checks that it is as it was laid out. Returns a
 * descriptor; -1 without an error: a place of the jail's own that is absent, or a link. */
int grants_open_place(struct place *place, struct stat *st, struct err *e);
/* Opens the tree of a shared place; no descriptor where it is absent or a link. */
int grants_open_shared(struct place *place, struct err *e);

/* --- main.c --------------------------------------------------------------------------------- */
/* Starts the jail, whose own processes continue in the background. A failure is in the report. */
void jail_start(struct jail *jail);
/* Run the steps of a strict jail's PID 1, and those of the command's own process. Return 125 if one
 * failed or nothing could be executed. */
int jail_inside(void *jail);
int jail_command(void *jail);

/* --- network.c ------------------------------------------------------------------------------ */
/* Adds to the report why there is no network, if there is none; call it when a step in PID 1 has
 * failed. */
void network_explain(struct jail *jail);

/* --- idmap.c -------------------------------------------------------------------------------- */
/* Returns a descriptor of a user namespace in which the disk's `uid`:`gid` is HOST_ID, and every
 * other id below DISK_IDS has an unused id of its own. */
int idmap_open(uid_t uid, gid_t gid, struct err *e);
/* Reaps the processes that made these namespaces. */
void idmap_collect(void);
enum root_kind idmap_root(void);
/* Writes a whole file of /proc/PID (uid_map, gid_map, setgroups, oom_score_adj). */
int idmap_write(pid_t pid, const char *file, const char *text, struct err *e);

/* --- seccomp.c ------------------------------------------------------------------------------ */
/* Reports whether the command gets no unix sockets but pairs, whatever the grants contain. */
bool seccomp_closes_unix(const struct jail *jail);

/* --- repositories.c ------------------------------------------------------------------------- */
/* Returns what the grants of this jail must be searched for (enum scan). */
int repositories_scan(const struct jail *jail, bool services);
/* Moves the repositories that the command made to the place that the policy names, and notes each
 * in `planted`; call it when the command has ended. */
void repositories_settle(struct jail *jail);

/* --- placeholder.c -------------------------------------------------------------------------- */
/* Removes the empty .git, unless another jail uses it. */
void placeholder_leave(struct jail *jail);

/* --- memory.c ------------------------------------------------------------------------------- */
/* Reports whether this jail's memory is limited by watching the sum. */
bool memory_watched(const struct jail *jail);
/* Looks at the memory once; `ended`: the command itself has gone. The report receives the limit
 * that was exceeded. Returns the ms until the next look. */
int memory_look(struct jail *jail, bool ended);
/* Returns the ms until the first look. */
int memory_first_ms(const struct jail *jail);

/* --- cgroup.c, hardened.c: what a jail leaves on the host ------------------------------------- */
/* Moves PID 1 into those groups that it was not started in; one of a resident launcher also gets
 * OOM_FIRST. On hardened, moves the command's process into all groups. */
int cgroup_enter(const struct jail *jail, pid_t pid, struct err *e);
/* Returns the limit at which the kernel stopped something in the groups: "memory_mb", "processes",
 * or NULL. */
const char *cgroup_limit(const struct jail *jail);
/* Removes the groups, in which everything has ended. */
void cgroup_leave(struct jail *jail);
/* Makes this process the reaper of its orphaned descendants. */
int hardened_adopt(struct jail *jail, struct err *e);
/* Kills and reaps every descendant, including daemons, except the children in `kept`, a list that
 * ends with 0, and their descendants. */
int hardened_sweep(const struct jail *jail, const pid_t *kept, struct err *e);

/* --- lifeline.c ----------------------------------------------------------------------------- */
/* Makes signals end this process only through asked_fd from now on; with `watch` it also notices
 * the end of the process that started it. */
int lifeline_begin(struct jail *jail, bool watch, struct err *e);
/* Takes a signal from asked_fd. */
void lifeline_read(struct jail *jail);
/* Ends this process by the signal that asked for it, or else with `code`. */
_Noreturn void lifeline_end(const struct jail *jail, int code);

/* --- supervise.c ------------------------------------------------------------------------------ */
/* Waits for the jail's end, at most the policy's time; afterwards only its PID 1 may be left, which
 * the kernel is taking down. Writes one JSON line to `status_fd` (-1: none) and, if the set-up
 * failed, one line to stderr. Returns the exit status: the command's, 128+signal, 124, 125, 126 or
 * 127. A command that was ended because the launcher had to end counts as killed. */
int supervise(struct jail *jail, int status_fd);
/* Waits for PID 1 too, and removes the jail's files from the host. */
void supervise_clean(struct jail *jail);

/* --- serve.c ---------------------------------------------------------------------------------- */
/* Serves orders from `socket_fd` until its other end is closed, then ends with everything that
 * still runs. `base` has the policy. */
int serve_run(struct jail *base, int socket_fd, struct err *e);
#endif
