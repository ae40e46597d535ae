/*
 * Ownership at the declaration: AUTO_* releases when the scope ends, TAKE_* moves out.
 *
 * A variable marked AUTO_FREE or AUTO_FD owns its value; the value leaves only through
 * TAKE_PTR/TAKE_FD, which leaves NULL or -1 behind.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void own_free(void *p)
{
	free(*(void **)p);
}

/* Closes *fd if it is not -1, keeps errno, and leaves -1. */
static inline void own_close(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;
		close(*fd);
		errno = saved;
	}
	*fd = -1;
}

/* Returns the heap array `items`, perhaps moved, with room for one more than `count`. Running out
 * of memory ends the process: everything collected is bounded before. */
static inline void *own_room(void *items, size_t count, size_t *room, size_t item_bytes)
{
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 16;
	items = reallocarray(items, *room, item_bytes);
	if (!items) {
		fputs("agent6: out of memory\n", stderr);
		abort();
	}
	return items;
}

#define AUTO_FREE __attribute__((cleanup(own_free), unused))
#define AUTO_FD   __attribute__((cleanup(own_close), unused))

#define TAKE_PTR(p)                                                                                \
	__extension__({                                                                            \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})
#define TAKE_FD(fd)                                                                                \
	__extension__({                                                                            \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

#define ARRAY_LEN(a)   (sizeof(a) / sizeof((a)[0]))
#define PRINTF(at, va) __attribute__((format(printf, at, va)))
#define MUST_CHECK     __attribute__((warn_unused_result))
#endif
