/*
 * An agent for `make teeth` that leaves out the layers of its own confinement named in
 * JAIL_LEAVE_OUT. The linker puts these functions in the place of the agent's (rules.mk).
 */
#include "agent/self_confine.h"
#include "tests/security/leave_out.h"

#define LAYERS(X)                                                                                  \
	X(network, (json_t * layers, struct err * e), (layers, e))                                 \
	X(landlock, (const struct agent_order *o, json_t *layers, struct err *e), (o, layers, e))  \
	X(privileges, (json_t * layers, struct err * e), (layers, e))                              \
	X(seccomp, (json_t * layers, struct err * e), (layers, e))
#define LEAVE_OUT(name, takes, given)                                                              \
	int __real_self_confine_##name takes;                                                      \
	int __wrap_self_confine_##name takes;                                                      \
	int __wrap_self_confine_##name takes                                                       \
	{                                                                                          \
		leave_out_read(); /* the file `targets` has set it since the start */              \
		return LAYER_ON("agent_" #name) ? __real_self_confine_##name given : 0;            \
	}
LAYERS(LEAVE_OUT)
