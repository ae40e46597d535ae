/*
 * The proof that a hardened profile keeps an offline command offline. No namespace stands behind it
 * there: a filter of system calls alone, which this program, started in such a jail, tries to pass.
 */
#ifndef CONFINE_OFFLINE_H
#define CONFINE_OFFLINE_H
#include "base/err.h"
#include <jansson.h>

/* A listener on an abstract socket of this host: what one attempt aims at. */
struct offline {
	char name[48];
	int listen_fd; /* owned */
};

int offline_open(struct offline *offline, struct err *e) MUST_CHECK;
void offline_close(struct offline *offline);
/* The command that makes the attempts: a list for a policy's argv, and the directory that its jail
 * must be able to read, as its "bundle". New references, owned by the caller. */
int offline_command(const struct offline *offline, json_t **argv, char **directory, struct err *e);
/* The attempts, made where it is called: prints what got through, "nothing" where nothing did, and
 * returns the exit status, 0 for nothing. */
int offline_attempt(const char *abstract_name);
/* What `fact`, the command's end, proves: -1 with the reason when anything got through. */
int offline_judge(const struct offline *offline, const json_t *fact, struct err *e);
#endif
