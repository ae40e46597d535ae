/*
 * The filter programs, as generated at build time from jail/seccomp_table.h.
 */
#ifndef JAIL_SECCOMP_H
#define JAIL_SECCOMP_H
#include <linux/filter.h>
#include <stddef.h>

enum filter {
	FILTER_TABLE,       /* the whole table */
	FILTER_NO_INTERNET, /* laid on top: no internet or netlink sockets */
	FILTER_NO_UNIX,     /* no unix sockets, pairs excepted */
	FILTER_NO_HOST_IPC, /* no System V or POSIX message objects */
	FILTER_REAPER,      /* for PID 1 of the jail: wait and end */
	FILTERS
};

struct seccomp_program {
	const struct sock_filter *code;
	size_t len;
};

extern const struct seccomp_program seccomp_programs[FILTERS];

/* Loads one on the calling thread, for good. -1 with errno. */
int seccomp_enter(enum filter which);
#endif
