/*
 * Seccomp: restricts the part of the kernel that a command can reach.
 */
#include "jail/seccomp.h"

#include "jail/jail.h"
#include "jail/seccomp_programs.h"
#include <linux/seccomp.h>

int seccomp_enter(unsigned which)
{
	bool on = LAYER_ON("seccomp") && (which != FILTER_REAPER || LAYER_ON("seccomp_reaper"));
	return on ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &SECCOMP_HERE[which]) : 0;
}

/* Reports whether unix sockets are closed. Below ABI 9 nothing else keeps a command without a mount
 * namespace from connecting to a named socket. */
bool seccomp_closes_unix(const struct jail *jail)
{
	return !jail->strict && jail->landlock_abi < 9;
}

int seccomp_apply(struct jail *jail, struct err *e)
{
	struct layers *layers = &jail->report->layers;
	bool no_internet = !jail->strict && jail->policy.network != NETWORK_HOST;
	unsigned which = 0;
	layers->scan = seccomp_closes_unix(jail) ? "none" : jail->layout.scan_cut ? "cut" : "whole";
	/* Nothing else protects them if the search for sockets was incomplete, if one that it found
	 * cannot be covered, or, below ABI 6, if abstract sockets are the host's. */
	bool no_unix = seccomp_closes_unix(jail) || jail->layout.scan_cut ||
		       (!jail->strict && layout_count(&jail->layout, PLACE_MASK)) ||
		       (jail->policy.network == NETWORK_HOST && !layers->landlock_scopes);
	layers->unix_sockets = no_unix ? "closed" : "open";
	which |= no_internet && LAYER_ON("seccomp_no_internet") ? FILTER_NO_INTERNET : 0;
	which |= no_unix && LAYER_ON("seccomp_no_unix") ? FILTER_NO_UNIX : 0;
	which |= !jail->strict && LAYER_ON("seccomp_no_host") ? FILTER_NO_HOST : 0;
	which |= !jail->policy.pty && LAYER_ON("seccomp_no_terminal") ? FILTER_NO_TERMINAL : 0;
	if (seccomp_enter(which))
		return err_errno(e, "cannot load the seccomp filter");
	layers->seccomp = 1;
	return 0;
}
