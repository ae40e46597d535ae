#include "base/caps.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum {
	LOCKED_BITS = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
		      SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
		      SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
};

static int drop_bounding(struct err *e)
{
	int cap = 0;
	while (!prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
		cap++;
	if (errno != EINVAL || !cap) /* this is beyond the kernel's last capability */
		return err_errno(e, "cannot drop capability %d", cap);
	while (cap--)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0))
			return err_set(e, "capability %d is still in the bounding set", cap);
	if (prctl(PR_SET_SECUREBITS, LOCKED_BITS, 0, 0, 0))
		return err_errno(e, "cannot lock the securebits");
	return prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == LOCKED_BITS
		       ? 0
		       : err_set(e, "the securebits did not take");
}

int caps_drop(struct err *e)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}}, have[2] = {{0}};
	if (syscall(SYS_capget, &header, have))
		return err_errno(e, "cannot read the capabilities");
	if ((have[0].effective & (1u << CAP_SETPCAP)) && drop_bounding(e))
		return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return err_errno(e, "cannot clear the ambient capabilities");
	if (syscall(SYS_capset, &header, none) || syscall(SYS_capget, &header, have))
		return err_errno(e, "cannot clear the capabilities");
	return memcmp(none, have, sizeof(none)) ? err_set(e, "the kernel kept capabilities") : 0;
}
