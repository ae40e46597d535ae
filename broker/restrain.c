#include "broker/restrain.h"

#include "base/caps.h"
#include "base/io.h"
#include "base/landlock.h"
#include "broker/restrain_table.h"
#include <sys/resource.h>

int restrain_descriptors(struct options *options, struct err *e)
{
	struct rlimit own = {256, 256};
	for (size_t i = 0; i < options->fd_count; i++)
		if (fcntl(options->fds[i], F_GETFD) < 0)
			return err_set(e, "descriptor %d is not open", options->fds[i]);
	int null_fd = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 2; fd++)
		if (!options_names(options, fd) && dup2(null_fd, fd) < 0)
			return err_errno(e, "cannot open /dev/null");
	if (io_close_others(options->fds, options->fd_count) < 0)
		return err_errno(e, "cannot close inherited descriptors");
	getrlimit(RLIMIT_NOFILE, &own);
	struct rlimit raised = {own.rlim_max, own.rlim_max};
	options->fd_limit = setrlimit(RLIMIT_NOFILE, &raised) < 0 ? own.rlim_cur : own.rlim_max;
	return 0;
}

/* --- Landlock ---------------------------------------------------------------------------- */

/* Applies Landlock. On a kernel without it, seccomp alone prevents writing and executing files, and
 * listening on a socket. */
static int enter_landlock(const struct options *options, const char **weakness, struct err *e)
{
	int abi = ll_abi(), bad = 0;
	*weakness = abi < 1   ? "no Landlock on this kernel: seccomp alone confines the broker"
		    : abi < 4 ? "this kernel's Landlock lets the broker connect to any port"
			      : NULL;
	if (abi < 1)
		return 0;
	struct ll_ruleset all = {.handled_fs = LL_FS_ALL,
		.handled_net = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP,
		.scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL};
	AUTO_FD int ruleset = ll_create(abi, all);
	if (ruleset < 0)
		return err_errno(e, "cannot create a Landlock ruleset");
	for (size_t i = 0; i < ARRAY_LEN(readable); i++)
		bad |= ll_allow(ruleset, readable[i], LL_FS_READ_FILE, NULL) < 0 && errno != EACCES;
	for (size_t i = 0; abi >= 4 && i < options->port_count; i++) {
		uint64_t rule[2] = {LL_NET_CONNECT_TCP, options->ports[i]};
		bad |= ll_add(ruleset, LL_RULE_NET_PORT, rule);
	}
	if (bad || ll_restrict(ruleset) < 0)
		return err_errno(e, "cannot enter a Landlock domain");
	return 0;
}

/* --- everything -------------------------------------------------------------------------- */

int restrain(const struct options *options, const char **weakness, struct err *e)
{
	static const struct rlimit none = {0, 0};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
		setrlimit(RLIMIT_CORE, &none) < 0 || setrlimit(RLIMIT_MSGQUEUE, &none) < 0 ||
		setrlimit(RLIMIT_MEMLOCK, &none) < 0)
		return err_errno(e, "cannot set no_new_privs, undumpable and lower limits");
	if (caps_drop(e) < 0 || enter_landlock(options, weakness, e) < 0)
		return -1;
	return seccomp_enter_rules(calls, ARRAY_LEN(calls), e);
}
