/*
 * The proof that a hardened profile keeps an offline command offline. There it rests on a filter of
 * system calls alone, without a network namespace: this program, started in such a jail, tries to
 * get past it.
 */
#ifndef CONFINE_OFFLINE_H
#define CONFINE_OFFLINE_H
#include "base/err.h"
#include "contract/fact.h"
#include <jansson.h>

/* A listener on an abstract socket of this host: the target of one attempt. */
struct offline {
	char name[48];
	int listen_fd; /* owned */
};

int offline_open(struct offline *offline, struct err *e) MUST_CHECK;
void offline_close(struct offline *offline);
/* Builds the command that makes the attempts: a list for a policy's argv, and the directory that
 * its jail must be able to read, as its "bundle". New references, owned by the caller. */
int offline_command(const struct offline *offline, json_t **argv, char **directory, struct err *e);
/* Makes the attempts in this process. Prints those that succeeded, or "nothing"; returns the exit
 * status, 0 for nothing. */
int offline_attempt(const char *abstract_name);
/* Judges `fact`, the command's end. Returns -1 with the reason if an attempt succeeded. */
int offline_judge(const struct offline *offline, const struct fact *fact, struct err *e);
#endif
