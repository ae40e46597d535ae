#include "agent/self_confine.h"

#include <string.h>
#include <sys/prctl.h>

int self_confine(const struct agent_order *order, json_t *layers, struct err *e)
{
	bool strict = !strcmp(order->profile, "strict");
	if (!strict && strcmp(order->profile, "hardened"))
		return err_set(
			e, "profile %s: this program knows strict and hardened", order->profile);
	json_object_set_new(layers, "profile", json_string(order->profile));
	if (strict && self_confine_network(layers, e))
		return err_wrap(e, "strict profile");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_errno(e, "cannot set no_new_privs");
	if (self_confine_landlock(order, layers, e) || self_confine_privileges(layers, e) ||
		self_confine_seccomp(layers, e))
		return err_wrap(e, "%s profile", order->profile);
	return 0;
}
