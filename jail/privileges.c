/*
 * Capabilities, securebits and NO_NEW_PRIVS.
 *
 * Attack: the power that the set-up itself needed, kept or regained: by a set-id program, by file
 * capabilities, by ambient capabilities, by uid 0 of a namespace. Everything is cleared and locked,
 * and then read back: a kernel that said yes and did not is refused.
 */
#include "base/caps.h"
#include "jail/jail.h"

int privileges_fix(struct jail *jail, struct err *e)
{
	if (jail->root == ROOT_CONFINED) {
		jail->report->layers.uid = "root";
		if (!jail->policy.allow_root_jail)
			return err_set(e,
				"this is root in a namespace that cannot give its command another "
				"id; " NOT_AS_ROOT);
	}
	if (!LAYER_ON("no_new_privs"))
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_errno(e, "cannot give up new privileges");
	jail->report->layers.no_new_privs = true;
	return 0;
}

int privileges_drop(struct jail *jail, struct err *e)
{
	if (!LAYER_ON("capabilities"))
		return 0;
	if (caps_drop(e))
		return -1;
	jail->report->layers.capabilities = true;
	return 0;
}
