/*
 * Capabilities, given up for good: the bounding set, the sets of this process and of all that it
 * starts, and the securebits that would bring them back.
 *
 * Everything is read back: a kernel that said yes and did not is an error.
 */
#ifndef BASE_CAPS_H
#define BASE_CAPS_H
#include "base/err.h"

/* An ordinary user (without CAP_SETPCAP) has nothing to take out of the bounding set and may lock
 * nothing; no_new_privs keeps it so. */
int caps_drop(struct err *e) MUST_CHECK;
#endif
