/*
 * Stops: what a capability, a core file, a debugger of the same user, or a dead supervisor would
 * leave open. Everything is read back: a layer that did not take is a failure, not a hope.
 */
#include "agent/confine.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static int lock_capabilities(struct err *e)
{
	int cap = 0;
	for (; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) || prctl(PR_CAPBSET_READ, cap, 0, 0, 0))
			return err_errno(e, "cannot drop capability %d", cap);
	if (errno != EINVAL) /* which says that there are no more */
		return err_errno(e, "cannot read capability %d", cap);
	int bits = SECURE_ALL_BITS | SECURE_ALL_LOCKS;
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) || prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != bits)
		return err_errno(e, "cannot lock the securebits");
	return 0;
}

static int drop_capabilities(struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}}, got[2];
	if (syscall(SYS_capget, &head, got))
		return err_errno(e, "cannot read the capabilities");
	/* Without CAP_SETPCAP (the hardened profile of an ordinary user) there is nothing to lock.
	 */
	if (got[0].effective & (1U << CAP_SETPCAP) && lock_capabilities(e))
		return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return err_errno(e, "cannot clear the ambient capabilities");
	if (syscall(SYS_capset, &head, none) || syscall(SYS_capget, &head, got))
		return err_errno(e, "cannot drop the capabilities");
	for (int i = 0; i < 2; i++)
		if (got[i].effective || got[i].permitted || got[i].inheritable)
			return err_set(e, "capabilities are left after dropping them");
	return 0;
}

int confine_privileges(json_t *layers, struct err *e)
{
	errno = EPERM; /* what is said of a layer that did not take although its call succeeded */
	if (drop_capabilities(e))
		return -1;
	/* 1, not 0: a core handler behind a pipe ignores 0 and stops at 1. */
	struct rlimit core = {1, 1}, got;
	if (setrlimit(RLIMIT_CORE, &core) || getrlimit(RLIMIT_CORE, &got) || got.rlim_max != 1)
		return err_errno(e, "cannot forbid core files");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_errno(e, "cannot make this process undumpable");
	int signal = 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ||
		prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0) || signal != SIGKILL)
		return err_errno(e, "cannot tie this process to its supervisor");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_set(e, "no_new_privs did not take");
	json_object_set_new(layers, "capabilities", json_string("none"));
	json_object_set_new(layers, "dumpable", json_false());
	return json_object_set_new(layers, "no_new_privs", json_true());
}
