/*
 * Child processes: starts one with exactly the descriptors, environment and directory that it is
 * given.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

struct child_spec {
	const char *path;  /* the executable; no PATH search */
	char *const *argv; /* NULL-terminated */
	char *const *env;  /* NULL-terminated; the whole environment */
	const int *fds;    /* fds[i] becomes descriptor i; -1 leaves i closed */
	int fd_count;      /* at least 3; every other descriptor is closed */
	bool own_session;  /* setsid(2), so that the terminal's signals do not reach it */
};

struct child {
	pid_t pid;
	int pidfd; /* readable once the child has ended; owned */
};

/* Starts a child with default signal dispositions and an empty mask. A failed exec is reported
 * here, with errno in e->number. */
int child_start(const struct child_spec *spec, struct child *out, struct err *e) MUST_CHECK;
/* Waits for the end (EINTR retried), reaps, closes pidfd. Returns the wait(2) status, -1 on
 * error. */
int child_wait(struct child *child);
/* Reports whether child_start has started the process and child_wait has not yet waited for it. */
bool child_is_own(pid_t pid);
/* Returns the path of a sibling program (agent6-jail and others), heap: beside this executable, or
 * in ../libexec/agent6 from there. NULL with an error that says where it was looked for. */
char *child_sibling(const char *program, struct err *e);
#endif
