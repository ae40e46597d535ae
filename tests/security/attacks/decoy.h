/*
 * The targets of the attacks: a workspace and a bundle, a tree outside them, listeners of every
 * kind, a victim process, System V and POSIX objects. They are made anew for each run and examined
 * afterwards.
 */
#ifndef TESTS_SECURITY_ATTACKS_DECOY_H
#define TESTS_SECURITY_ATTACKS_DECOY_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { DECOY_TOLD_MAX = 26, DECOY_CANARIES = 7, DECOY_UID = 61234 };

struct decoy {
	char *root, *workspace, *outside, *bundle, *git, *nested_git, *aside, *policy, *attack,
		*jail, *suid;
	bool as_user; /* attacks run as DECOY_UID although this is root */
	int layout; /* how the workspace belongs to a repository (decoy_layout.h), 0: by its .git */
	struct {
		char *name, *value;
	} told[DECOY_TOLD_MAX]; /* environment of the attack */
	size_t told_count;
	int canary[DECOY_CANARIES];
	int terminal; /* a pseudo-terminal's slave, and the master that keeps it open */
	int master;
	pid_t victim;
	char *before; /* manifest of `outside` and the bundle */
	char mark[32], mq[32], shm[48];
	int ipc_key;
};

/* `scratch` is where everything lies; `as_user` drops root before an attack. */
void decoy_init(struct decoy *decoy, const char *scratch, bool as_user);
void decoy_done(struct decoy *decoy);
/* A fresh tree and fresh targets; clear removes them and whatever the attack left. */
void decoy_fill(struct decoy *decoy);
void decoy_clear(struct decoy *decoy);
/* In a child: takes the attacker's ids. */
int decoy_become(const struct decoy *decoy);
/* The exit status, 128+signal; 255 when it had to be killed after `secs`. */
int decoy_wait(pid_t pid, int secs);
/* Returns the harm that the attack did to the host, as heap text; NULL: none. */
char *decoy_harm(struct decoy *decoy);
#endif
