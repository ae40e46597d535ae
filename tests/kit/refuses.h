/*
 * System calls that a filter must refuse.
 */
#ifndef KIT_REFUSES_H
#define KIT_REFUSES_H
#include "tests/kit/tap.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Returns 1, and tells, if the call has not failed with the errno `want`. */
static int refuses(const char *what, long result, int want)
{
	int got = errno;
	if (result == -1 && got == want)
		return 0;
	diag("%s: %ld, %s", what, result, strerror(got));
	return 1;
}

#define ABSENT(...) refuses(#__VA_ARGS__, syscall(__VA_ARGS__), ENOSYS)
#define WIDE        (1ul << 32)

#endif
