/*
 * The filter programs, as generated at build time from jail/seccomp_table.h.
 */
#ifndef JAIL_SECCOMP_H
#define JAIL_SECCOMP_H
#include <linux/filter.h>

#define FILTER_PROGRAMS(X)                                                                         \
	X(FILTER_TABLE, table)             /* the whole table */                                   \
	X(FILTER_NO_INTERNET, no_internet) /* laid on top: no internet or netlink sockets */       \
	X(FILTER_NO_UNIX, no_unix)         /* no unix sockets, pairs excepted */                   \
	X(FILTER_NO_HOST_IPC, no_host_ipc) /* no System V or POSIX message objects */              \
	X(FILTER_REAPER, reaper)           /* for PID 1 of the jail: wait and end */

enum filter {
#define FILTER(which, program) which,
	FILTER_PROGRAMS(FILTER)
#undef FILTER
		FILTERS
};

const struct sock_fprog *seccomp_program(enum filter which);
/* Loads one on the calling thread, for good. -1 with errno. */
int seccomp_enter(enum filter which);
#endif
