/*
 * The state of one confinement, handed from step to step. A step is one function that returns 0, or
 * -1 with the cause; main.c lists the steps in order and names each failure by its step.
 */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H
#include "jail/layout.h"
#include "jail/leave_out.h"
#include "jail/policy.h"
#include "jail/report.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Who the command is inside a strict jail, and how long an id list the kernel knows on disk. */
enum { JAIL_ID = 1000, DISK_IDS = 65536, MIB = 1024 * 1024 };
/* Unused host ids for the jails of root, just below 2^31: nothing allocates there. */
enum { HOST_IDS_BASE = 0x7ffd0000, HOST_ID = 0x7ffdffff };

/* Out of memory, the kernel ends what is jailed before any other program; with it the launcher of
 * one strict jail (cgroup.c), without which the jail ends too. */
#define OOM_FIRST "oom_score_adj", "1000"

/* What to do where a command would be root. */
#define NOT_AS_ROOT                                                                                \
	"run as an ordinary user, or set \"allow_root_jail\" (--allow-root-jail of machine run "   \
	"and jail)"

/* How far this process's uid 0 reaches. In a user namespace (a rootless container) root is somebody
 * else outside: an ordinary user to the host, unless the namespace maps 0 to 0. */
enum root_kind { ROOT_NOT, ROOT_HOST, ROOT_CONFINED };

struct jail {
	struct policy policy;
	struct layout layout;
	struct report *report;
	bool strict;
	enum root_kind root;
	uid_t host_uid; /* the command's ids as the host sees them */
	gid_t host_gid;
	int landlock_abi; /* asked once */
	int ruleset_fd;   /* Landlock's, or -1 */
	int alive_fd;     /* strict: the launcher's end of a pair; hangs up with all of the jail */
	int first_fd;     /* and PID 1's; hangs up with the launcher */
	int parent_fd;    /* of the process that started this launcher; serve, or without one: -1 */
	int asked_fd;     /* signals that ask it to end */
	int asked;        /* the one that did */
	int life_fd;      /* serve: hangs up when the resident launcher is gone; -1 */
	int order_fd;     /* serve: where the command comes from; -1: the policy has it */
	char *groups[3];  /* cgroups to remove; owned */
	int group_count;
	int group_fd;         /* of the first, to start PID 1 in, or -1 */
	char *temp_dir;       /* hardened: private, removed afterwards; owned */
	int children_fd;      /* hardened: the kernel's list of the launcher's children */
	uint64_t users_tasks; /* hardened: what the command's user runs already */
	char **argv, **env;   /* of the command, in its own process; argv from 1 on */
	pid_t launcher;       /* hardened: who is to be the command's parent */
	pid_t child;          /* PID 1 (strict) or the command (hardened) */
	int child_pidfd;
	int placeholder_fd; /* an empty .git that stays while this is locked, or -1 */
	json_t *planted;    /* repositories that the command made, NULL: none; owned */
	struct err left;    /* why there may be some where they were made */
	bool stuck;         /* one could not be moved, which no later search would tell */
};

typedef int step_fn(struct jail *jail, struct err *e);

struct step {
	int profiles;      /* for which it is */
	const char *stage; /* NULL ends a list */
	step_fn *run;
};

/* One line per layer; the file of the same name says what it stops. */
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
/* A descriptor of the place on the host that no link leads to, and what it is: as it was laid out,
 * or that is the error. -1 without one: one of the jail's own, absent or a link. */
int grants_open_place(struct place *place, struct stat *st, struct err *e);

/* --- main.c --------------------------------------------------------------------------------- */
/* Builds the jail: its own processes work on in the background. A failure is in the report. */
void jail_start(struct jail *jail);
/* The steps of a strict jail's PID 1, and those of the command's own process: 125 when one failed,
 * or when nothing could be executed. */
int jail_inside(void *jail);
int jail_command(void *jail);

/* --- network.c ------------------------------------------------------------------------------ */
/* Once a step in PID 1 has failed: the report says why there is no network, where there is none. */
void network_explain(struct jail *jail);

/* --- idmap.c -------------------------------------------------------------------------------- */
/* A descriptor of a user namespace in which the disk's `uid`:`gid` is HOST_ID and every other id
 * below DISK_IDS is an unused one of its own. */
int idmap_open(uid_t uid, gid_t gid, struct err *e);
/* Collects the processes that these were made with. */
void idmap_collect(void);
enum root_kind idmap_root(void);
/* Writes a whole file of /proc/PID (uid_map, gid_map, setgroups, oom_score_adj). */
int idmap_write(pid_t pid, const char *file, const char *text, struct err *e);

/* --- seccomp.c ------------------------------------------------------------------------------ */
/* Without regard to what lies in the grants, the command gets no unix socket but pairs. */
bool seccomp_closes_unix(const struct jail *jail);

/* --- repositories.c ------------------------------------------------------------------------- */
/* What the grants of this jail are searched for (enum scan). */
int repositories_scan(const struct jail *jail, bool services);
/* The command has ended: moves the repositories that it made to where the policy says, and notes
 * each in `planted`. */
void repositories_settle(struct jail *jail);

/* --- placeholder.c -------------------------------------------------------------------------- */
/* Removes the empty .git, unless another jail has a use for it. */
void placeholder_leave(struct jail *jail);

/* --- memory.c ------------------------------------------------------------------------------- */
/* Whether the sum is what bounds this jail's memory. */
bool memory_watched(const struct jail *jail);
/* Looks once; `ended`: the command itself is not there any more. The report has the limit that was
 * passed. Returns in how many ms to look again. */
int memory_look(struct jail *jail, bool ended);
/* In how many ms to look first. */
int memory_first_ms(const struct jail *jail);

/* --- cgroup.c, hardened.c: what a jail leaves on the host ------------------------------------- */
/* Moves PID 1 into those groups that it was not started in; a resident launcher's also gets
 * OOM_FIRST. */
int cgroup_enter(const struct jail *jail, pid_t pid, struct err *e);
/* The limit at which the kernel stopped something in the groups: "memory_mb", "processes", NULL. */
const char *cgroup_limit(const struct jail *jail);
/* Everything in the groups has ended. */
void cgroup_leave(struct jail *jail);
/* Becomes who collects what descendants leave behind. */
int hardened_adopt(struct jail *jail, struct err *e);
/* Kills and reaps every descendant, daemonised ones too, but for the children in `kept`, a list
 * that ends with 0, and what they have started. */
int hardened_sweep(const struct jail *jail, const pid_t *kept, struct err *e);

/* --- lifeline.c ----------------------------------------------------------------------------- */
/* From now on a signal ends this process only through asked_fd, and it can see (`watch`) the end of
 * who started it. */
int lifeline_begin(struct jail *jail, bool watch, struct err *e);
/* Takes the signal that asked_fd has. */
void lifeline_read(struct jail *jail);
/* Ends this process by the signal that asked for it, or else with `code`. */
_Noreturn void lifeline_end(const struct jail *jail, int code);

/* --- supervise.c ------------------------------------------------------------------------------ */
/* Waits for the jail's end, at most the policy's time: afterwards no process of it is left but its
 * PID 1, which the kernel is taking down. One JSON line goes to `status_fd` (-1: nobody asked) and,
 * when the set-up failed, one line to stderr. Returns the exit status that says it: the command's,
 * 128+signal, 124, 125, 126 or 127. A
 * command that the launcher had to end for its own end has been killed. */
int supervise(struct jail *jail, int status_fd);
/* Waits for PID 1 too, and removes what is left on the host. */
void supervise_clean(struct jail *jail);

/* --- serve.c ---------------------------------------------------------------------------------- */
/* Serves orders from `socket_fd` until its other end is closed, then ends with all that still runs.
 * `base` has the policy. */
int serve_run(struct jail *base, int socket_fd, struct err *e);
#endif
