/*
 * Seccomp: the part of the kernel a command can talk to at all.
 *
 * Attack: a kernel bug behind a rarely used call, a call that undoes another layer (mount, ptrace,
 * keyctl, unshare), a socket family that no namespace covers, a file with a set-id bit.
 */
#include "jail/seccomp.h"

#include "base/own.h"
#include "jail/jail.h"
#include "jail/leave_out.h"
#include "jail/seccomp_programs.h"
#include <linux/seccomp.h>
#include <sys/syscall.h>

#define PROGRAM(name)                                                                              \
	{                                                                                          \
		seccomp_##name, ARRAY_LEN(seccomp_##name)                                          \
	}
const struct seccomp_program seccomp_programs[FILTERS] = {
	[FILTER_TABLE] = PROGRAM(table),
	[FILTER_NO_INTERNET] = PROGRAM(no_internet),
	[FILTER_NO_UNIX] = PROGRAM(no_unix),
	[FILTER_NO_HOST_IPC] = PROGRAM(no_host_ipc),
	[FILTER_REAPER] = PROGRAM(reaper),
};

static const char *const filter_names[FILTERS] = {"seccomp_table", "seccomp_no_internet",
	"seccomp_no_unix", "seccomp_no_host_ipc", "seccomp_reaper"};

int seccomp_enter(enum filter which)
{
	const struct seccomp_program *program = &seccomp_programs[which];
	struct sock_fprog code = {.len = (unsigned short)program->len,
		.filter = (struct sock_filter *)(uintptr_t)program->code};
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &code);
}

/* Below ABI 9 nothing else stops a command without a mount namespace from connecting to a named
 * socket, and nothing at all where the search for sockets was cut short. */
static bool unix_closed(const struct jail *j)
{
	return j->layout.scan_cut || (j->policy.profile == PROFILE_HARDENED && j->landlock_abi < 9);
}

int seccomp_apply(struct jail *j, struct err *e)
{
	bool hardened = j->policy.profile == PROFILE_HARDENED;
	struct layers *layers = &j->report->layers;
	layers->scan = j->layout.scan_cut ? "cut" : "whole";
	layers->unix_sockets = unix_closed(j) ? "closed" : "open";
	const bool wanted[FILTERS] = {
		[FILTER_NO_INTERNET] = hardened && j->policy.network != NETWORK_HOST,
		[FILTER_NO_UNIX] = unix_closed(j),
		[FILTER_NO_HOST_IPC] = hardened,
		[FILTER_TABLE] = true,
	};
	/* The table last, so that loading the others need not pass it. */
	for (int i = FILTERS - 1; i >= 0; i--) {
		if (!wanted[i] || !LAYER_ON("seccomp") || !LAYER_ON(filter_names[i]))
			continue;
		if (seccomp_enter((enum filter)i))
			return err_errno(e, "cannot load the filter %s", filter_names[i]);
		layers->seccomp++;
	}
	return 0;
}
