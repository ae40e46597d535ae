/*
 * LAYER_ON("name"): true in every shipped program. Only the build of `make teeth` defines it
 * another way (tests/security/leave_out.h), so that the attack corpus can be seen to notice.
 */
#ifndef LAYER_ON
#define LAYER_ON(name) 1
#endif
