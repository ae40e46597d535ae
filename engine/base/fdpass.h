/*
 * Descriptors passed over a unix socket together with one message.
 */
#ifndef BASE_FDPASS_H
#define BASE_FDPASS_H
#include <stdbool.h>
#include <sys/types.h>

enum { FDPASS_MAX = 4 };

/* The descriptors that came with a message. */
struct fdpass {
	int fds[FDPASS_MAX]; /* owned, O_CLOEXEC; -1 beyond `count` */
	int count;
	bool cut; /* the message, or the descriptors, did not fit */
};

/* Waits for one message of at most `size` bytes (EINTR retried). Returns its length, 0 if the other
 * side has gone, -1 with errno. Fills `fdpass` in any case. */
ssize_t fdpass_receive(int socket_fd, void *bytes, size_t size, struct fdpass *fdpass);
/* Sends one message with `count` descriptors, from 1 to FDPASS_MAX. -1 with errno. */
int fdpass_send(int socket_fd, const void *bytes, size_t len, const int *fds, int count);
#endif
