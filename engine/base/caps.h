/*
 * Capabilities: gives them up for good, with the bounding set, the sets of this process and its
 * children, and the securebits that would restore them.
 *
 * Everything is read back: it is an error if the kernel reported success without effect.
 */
#ifndef BASE_CAPS_H
#define BASE_CAPS_H
#include "base/err.h"

/* Drops all capabilities. An ordinary user (without CAP_SETPCAP) can change neither the bounding
 * set nor the securebits; there no_new_privs has the same effect. */
int caps_drop(struct err *e) MUST_CHECK;
#endif
