/*
 * Stops the uses of a capability, a core file, a debugger of the same user, and a supervisor that
 * has died. Every setting is read back: one that did not take effect is a failure.
 */
#include "agent/self_confine.h"

#include "base/caps.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int self_confine_privileges(json_t *layers, struct err *e)
{
	errno = EPERM; /* the error of a setting that had no effect although its call succeeded */
	if (caps_drop(e))
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
