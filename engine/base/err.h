/*
 * An error value: the cause in one sentence on which a person can act.
 *
 * Caller-owned, fixed size, no allocation. The first cause wins: a second err_set on a filled value
 * is ignored, and err_wrap adds context in front on the way up. Functions return 0, or -1 with the
 * value filled. A NULL `struct err *` is allowed: the error is not wanted.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H
#include "base/cleanup.h"

struct err {
	int number;      /* errno of the cause, 0 when there is none */
	char text[1024]; /* empty: no error */
};

#define ERR_NONE                                                                                   \
	(struct err)                                                                               \
	{                                                                                          \
		0                                                                                  \
	}

/* Records the cause. Always returns -1, so that `return err_set(e, ...)` reads well. */
int err_set(struct err *e, const char *format, ...) PRINTF(2, 3);
/* Does the same with ": strerror(errno)" appended, and sets `number`. Keeps errno. */
int err_errno(struct err *e, const char *format, ...) PRINTF(2, 3);
/* Puts "context: " in front of a filled value. Always returns -1. */
int err_wrap(struct err *e, const char *format, ...) PRINTF(2, 3);
#endif
