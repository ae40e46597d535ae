/*
 * The filter programs, generated at build time from jail/seccomp_table.h: one for every
 * combination, so that no process has to load two.
 */
#ifndef JAIL_SECCOMP_H
#define JAIL_SECCOMP_H

/* The additions to the table that a command's filter has; or the filter of another process. */
enum filter {
	FILTER_NO_INTERNET = 1, /* internet and netlink sockets */
	FILTER_NO_UNIX = 2,     /* unix sockets, pairs excepted */
	FILTER_NO_HOST = 4,     /* the host's message objects, and its other processes by number */
	FILTER_NO_TERMINAL = 8, /* making a terminal the session's own */
	FILTER_REAPER = 16,     /* PID 1 of the jail: wait and end */
	FILTERS
};

/* Loads one on the calling thread, for good: a sum of the first four, or FILTER_REAPER. Returns -1
 * with errno. */
int seccomp_enter(unsigned which);
#endif
