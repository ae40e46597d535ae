/*
 * Stops: connections by TCP, abstract sockets and signals that leave the process's own domain, and
 * on the hardened profile every file outside the workspace and a read-only system set. The strict
 * profile has no file rules: any of them would forbid the jail its mounts.
 */
#include "agent/self_confine.h"

#include "base/landlock.h"
#include "base/path.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum {
	FS_READ = LL_FS_EXECUTE | LL_FS_READ_FILE | LL_FS_READ_DIR,
	FS_WRITE = LL_FS_ALL & ~(LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK | LL_FS_IOCTL_DEV),
	FS_SINK = LL_FS_READ_FILE | LL_FS_WRITE_FILE,
	HARDENED_ABI = 3,
};

static const struct {
	uint64_t allowed;
	const char *const *paths;
} system_rules[] = {
	{FS_READ, PATH_LIST(PATH_SYSTEM_DIRS, "/etc", "/run", "/proc")},
	{FS_SINK, PATH_LIST("/dev/null", "/dev/zero", "/dev/full")},
	{LL_FS_READ_FILE, PATH_LIST("/dev/random", "/dev/urandom")},
};

static int allow_files(int ruleset, const struct agent_order *order, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(system_rules); i++)
		for (const char *const *path = system_rules[i].paths; *path; path++)
			if (ll_allow(ruleset, *path, system_rules[i].allowed, e))
				return -1;
	for (size_t i = 0; i < order->channel_count; i++)
		if (order->channels[i].ca_file &&
			ll_allow(ruleset, order->channels[i].ca_file, LL_FS_READ_FILE, e))
			return -1;
	/* REFER came with ABI 2 and TRUNCATE with 3, the least this profile accepts. */
	return ll_allow(ruleset, order->workspace, FS_WRITE, e) ||
			       ll_allow(ruleset, order->state_dir, FS_WRITE, e)
		       ? -1
		       : 0;
}

/* Tries two things that the domain must refuse: binding a port, and reading the root directory. */
static int prove(const struct agent_order *order, bool files, int abi, struct err *e)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (abi >= 4 && fd < 0 && errno != EAFNOSUPPORT)
		return err_errno(e, "Landlock: cannot be tried");
	if (abi >= 4 && fd >= 0 &&
		(!bind(fd, (struct sockaddr *)&any, sizeof(any)) || errno != EACCES))
		return err_set(e, "Landlock: a TCP port can still be taken");
	AUTO_FD int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files && strcmp(order->workspace, "/") != 0 && (root >= 0 || errno != EACCES))
		return err_set(e, "Landlock: / can still be read");
	return 0;
}

int self_confine_landlock(const struct agent_order *order, json_t *layers, struct err *e)
{
	bool files = !strcmp(order->profile, "hardened");
	int abi = ll_abi();
	/* A kernel without Landlock returns one of two errors; any other error is a failure. */
	if (abi < 0 && errno != ENOSYS && errno != EOPNOTSUPP)
		return err_errno(e, "Landlock: cannot ask for its version");
	json_object_set_new(layers, "landlock_abi", json_integer(abi < 0 ? 0 : abi));
	json_object_set_new(layers, "landlock_files", json_false());
	json_object_set_new(layers, "landlock_tcp", json_false());
	json_object_set_new(layers, "landlock_scopes", json_false());
	if (files && abi < HARDENED_ABI)
		return err_set(e, "Landlock ABI %d is needed, this kernel has %d", HARDENED_ABI,
			abi < 0 ? 0 : abi);
	/* Below ABI 4 there is nothing to restrict without file rules: the namespace must
	 * suffice. */
	if (!files && abi < 4)
		return 0;
	struct ll_ruleset want = {.handled_fs = files ? LL_FS_ALL : 0,
		.handled_net = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP,
		.scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL};
	AUTO_FD int ruleset = ll_create(abi, want);
	if (ruleset < 0)
		return err_errno(e, "Landlock: cannot make a rule set");
	if (files && allow_files(ruleset, order, e))
		return -1;
	if (ll_restrict(ruleset))
		return err_errno(e, "Landlock: cannot bind this process");
	if (prove(order, files, abi, e))
		return -1;
	json_object_set_new(layers, "landlock_files", json_boolean(files));
	json_object_set_new(layers, "landlock_tcp", json_boolean(abi >= 4));
	return json_object_set_new(layers, "landlock_scopes", json_boolean(abi >= 6));
}
