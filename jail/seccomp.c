/*
 * Seccomp: the part of the kernel a command can talk to at all.
 *
 * Attack: a kernel bug behind a rarely used call, a call that undoes another layer (mount, ptrace,
 * keyctl, unshare), a socket family that no namespace covers, a file with a set-id bit.
 */
#include "jail/seccomp.h"

#include "jail/jail.h"
#include "jail/seccomp_programs.h"
#include <linux/seccomp.h>

static const struct {
	const char *name;
	struct sock_fprog code;
} programs[FILTERS] = {
#define PROGRAM(which, program)                                                                    \
	[which] = {                                                                                \
		"seccomp_" #program, {ARRAY_LEN(seccomp_##program),                                \
					     (struct sock_filter *)(uintptr_t)seccomp_##program}},
	FILTER_PROGRAMS(PROGRAM)};

const struct sock_fprog *seccomp_program(enum filter which)
{
	return &programs[which].code;
}

int seccomp_enter(enum filter which)
{
	return LAYER_ON("seccomp") && LAYER_ON(programs[which].name)
		       ? (int)syscall(
				 SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &programs[which].code)
		       : 0;
}

/* Below ABI 9 nothing else stops a command without a mount namespace from connecting to a named
 * socket, and nothing at all where the search for sockets was cut short. */
static bool unix_closed(const struct jail *j)
{
	return j->layout.scan_cut || (!j->strict && j->landlock_abi < 9);
}

int seccomp_apply(struct jail *j, struct err *e)
{
	struct layers *layers = &j->report->layers;
	layers->scan = j->layout.scan_cut ? "cut" : "whole";
	layers->unix_sockets = unix_closed(j) ? "closed" : "open";
	const bool wanted[FILTERS] = {
		[FILTER_NO_INTERNET] = !j->strict && j->policy.network != NETWORK_HOST,
		[FILTER_NO_UNIX] = unix_closed(j),
		[FILTER_NO_HOST_IPC] = !j->strict,
		[FILTER_TABLE] = true,
	};
	/* The table last, so that loading the others need not pass it. */
	for (int i = FILTERS - 1; i >= 0; i--) {
		if (wanted[i] && seccomp_enter((enum filter)i))
			return err_errno(e, "cannot load the filter %s", programs[i].name);
		layers->seccomp += wanted[i];
	}
	return 0;
}
