/*
 * Capabilities, securebits and NO_NEW_PRIVS.
 *
 * Attack: the power that the set-up itself needed, kept or regained: by a set-id program, by file
 * capabilities, by ambient capabilities, by uid 0 of a namespace. Everything is cleared and locked,
 * and then read back: a kernel that said yes and did not is refused.
 */
#include "jail/jail.h"
#include <linux/capability.h>
#include <linux/securebits.h>

enum {
	LOCKED_BITS = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
		      SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
		      SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
};

static int get_caps(struct __user_cap_data_struct caps[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	return (int)syscall(SYS_capget, &header, caps);
}

static int drop_bounding(struct err *e)
{
	int cap = 0;
	while (!prctl(PR_CAPBSET_DROP, cap))
		cap++;
	if (errno != EINVAL || !cap) /* that is past the last one this kernel knows */
		return err_errno(e, "cannot drop capability %d", cap);
	while (cap--)
		if (prctl(PR_CAPBSET_READ, cap))
			return err_set(e, "capability %d is still in the bounding set", cap);
	if (prctl(PR_SET_SECUREBITS, LOCKED_BITS) || prctl(PR_GET_SECUREBITS) != LOCKED_BITS)
		return err_errno(e, "cannot lock the securebits");
	return 0;
}

static int clear_sets(struct err *e)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}}, have[2];
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return err_errno(e, "cannot clear the ambient capabilities");
	if (syscall(SYS_capset, &header, none) || get_caps(have))
		return err_errno(e, "cannot clear the capabilities");
	if (memcmp(none, have, sizeof(none)) != 0)
		return err_set(e, "the kernel kept capabilities");
	return 0;
}

int privileges_fix(struct jail *j, struct err *e)
{
	if (j->strict && j->root == ROOT_CONFINED) {
		j->report->layers.uid = "root";
		if (!j->policy.allow_root_jail)
			return err_set(e,
				"this is root in a namespace that cannot give its command another "
				"id; run as an ordinary user or set \"allow_root_jail\"");
	}
	if (!LAYER_ON("no_new_privs"))
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_errno(e, "cannot give up new privileges");
	j->report->layers.no_new_privs = true;
	return 0;
}

/* An ordinary user without namespaces has nothing to drop and may lock nothing; NO_NEW_PRIVS keeps
 * it so. */
int privileges_drop(struct jail *j, struct err *e)
{
	struct __user_cap_data_struct have[2] = {{0}};
	if (!LAYER_ON("capabilities"))
		return 0;
	if (get_caps(have))
		return err_errno(e, "cannot read the capabilities");
	if (((have[0].effective & (1u << CAP_SETPCAP)) && drop_bounding(e)) || clear_sets(e))
		return -1;
	j->report->layers.capabilities = true;
	return 0;
}
