/*
 * LAYER_ON("name"): true in every shipped program. The build of `make teeth` defines
 * JAIL_LEAVE_OUT, and there the environment names one layer to leave out, so that the attack tests
 * can be seen to notice.
 */
#ifndef JAIL_LEAVE_OUT_H
#define JAIL_LEAVE_OUT_H
#ifdef JAIL_LEAVE_OUT
#include <stdlib.h>
#include <string.h>
#define LAYER_ON(name) (!getenv("JAIL_LEAVE_OUT") || strcmp(getenv("JAIL_LEAVE_OUT"), (name)) != 0)
#else
#define LAYER_ON(name) 1
#endif
#endif
