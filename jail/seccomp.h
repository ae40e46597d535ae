/*
 * The filter programs, as generated at build time from jail/seccomp_table.h: one for every use, so
 * that none has to be loaded behind another.
 */
#ifndef JAIL_SECCOMP_H
#define JAIL_SECCOMP_H

/* What the command's filter closes beyond the table; or the filter of another process. */
enum filter {
	FILTER_NO_INTERNET = 1, /* internet and netlink sockets */
	FILTER_NO_UNIX = 2,     /* unix sockets, pairs excepted */
	FILTER_NO_HOST = 4,     /* the host's message objects, and its other processes by number */
	FILTER_NO_TERMINAL = 8, /* taking a terminal for the session's own */
	FILTER_REAPER = 16,     /* PID 1 of the jail: wait and end */
	FILTERS
};

/* Loads one on the calling thread, for good: a sum of the first four, or FILTER_REAPER. -1 with
 * errno. */
int seccomp_enter(unsigned which);
#endif
