/*
 * A resident agent6-jail (`serve`) with a workspace of its own, and orders to it. What goes wrong
 * ends the test program.
 */
#ifndef TESTS_KIT_RESIDENT_H
#define TESTS_KIT_RESIDENT_H
#include <jansson.h>
#include <sys/types.h>

enum { RESIDENT_FDS = 4 };

struct resident {
	pid_t pid;
	int socket; /* orders go here */
	char *ws;   /* with a protected .git/config; .hg is protected, too, and not there */
};

struct reply {
	json_t *status;
	char *out; /* stdout and stderr */
};

/* Starts one as `uid` (0: as the caller), with surroundings that a command must not inherit:
 * signals ignored and blocked, a variable, a descriptor. `name`: the name of the workspace. */
void resident_start(struct resident *resident, const char *profile, const char *name, uid_t uid);
void resident_stop(struct resident *resident);
void resident_send(int socket_fd, const char *order, const int *fds, size_t count);
/* Sends an order. Its status comes on the returned descriptor, its output on `*out_fd`. */
int resident_begin(const struct resident *resident, const char *order, int *out_fd);
struct reply resident_finish(int status_fd, int out_fd);
/* Sends an order and waits for its end. */
struct reply resident_order(const struct resident *resident, const char *order);

/* Returns an integer of the status; -1: it is missing or no integer. */
json_int_t reply_number(const struct reply *reply, const char *key);
void reply_done(struct reply *reply);
#endif
