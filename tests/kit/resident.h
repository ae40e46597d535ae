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

/* As `uid` (0: as the caller is), in a world whose oddities are none of a command's business:
 * signals ignored and blocked, a variable, a descriptor. `name`: of the workspace. */
void resident_start(struct resident *resident, const char *profile, const char *name, uid_t uid);
void resident_stop(struct resident *resident);
void resident_send(int socket_fd, const char *order, const int *fds, size_t count);
/* Sends; the status comes on the descriptor returned, the output into `*out_fd`. */
int resident_begin(const struct resident *resident, const char *order, int *out_fd);
struct reply resident_finish(int status_fd, int out_fd);
/* Both. */
struct reply resident_order(const struct resident *resident, const char *order);

/* Of the status; -1: not there, or no integer. */
json_int_t reply_number(const struct reply *reply, const char *key);
void reply_done(struct reply *reply);
#endif
