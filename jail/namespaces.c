/*
 * The namespaces of a strict jail: user, mount, PID, IPC, UTS and cgroup in one call. The network
 * follows (network.c).
 *
 * Attack: everything with a global name: processes to signal or trace, mounts to change, host
 * services on loopback or abstract sockets, shared memory, the host's name. Nothing outside the
 * jail's namespaces has a name inside.
 */
#include "jail/jail.h"
#include "jail/root_table.h"
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#define INTO_CGROUP 0x200000000ull /* linux/sched.h: CLONE_INTO_CGROUP */

#define SPACE(name, flag) (LAYER_ON("namespace_" name) ? (unsigned long)(flag) : 0)

static unsigned long wanted_flags(void)
{
	return SPACE("user", CLONE_NEWUSER) | SPACE("mount", CLONE_NEWNS) |
	       SPACE("cgroup", CLONE_NEWCGROUP) | SPACE("pid", CLONE_NEWPID) |
	       SPACE("ipc", CLONE_NEWIPC) | SPACE("uts", CLONE_NEWUTS) | CLONE_PIDFD;
}

static int write_maps(const struct jail *jail, struct err *e)
{
	char text[64];
	if (jail->root != ROOT_HOST && idmap_write(jail->child, "setgroups", "deny", e))
		return -1;
	snprintf(text, sizeof(text), "%d %u 1\n", JAIL_ID, (unsigned)jail->host_uid);
	if (idmap_write(jail->child, "uid_map", text, e))
		return -1;
	snprintf(text, sizeof(text), "%d %u 1\n", JAIL_ID, (unsigned)jail->host_gid);
	return idmap_write(jail->child, "gid_map", text, e);
}

/* Starts PID 1 in the launcher's memory, on a stack of its own, so that nothing is copied or taken
 * down twice. It gets memory of its own if it will read an order, which a model may have worded;
 * and in a group, where running out of memory ends every process that shares it. clone3(2) is used
 * only in a group, since containers often forbid it. */
static pid_t start_first(struct jail *jail)
{
	static char stack[256 * 1024] __attribute__((aligned(16)));
	unsigned long shared = jail->order_fd < 0 ? CLONE_VM : 0;
	if (jail->group_fd < 0)
		return clone(jail_inside, stack + sizeof(stack),
			(int)(wanted_flags() | shared | SIGCHLD), jail, &jail->child_pidfd);
	const struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls,
			set_tid, set_tid_size, cgroup;
	} args = {.flags = wanted_flags() | INTO_CGROUP,
		.pidfd = (uintptr_t)&jail->child_pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)jail->group_fd};
	pid_t first = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (!first)
		_exit(jail_inside(jail));
	return first;
}

/* Enters the namespaces. One byte goes through the pair once the id maps are written; afterwards
 * each end closes only with its process. */
int namespaces_enter(struct jail *jail, struct err *e)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "cannot make a socket pair");
	jail->alive_fd = pair[0];
	jail->first_fd = pair[1];
	jail->child = start_first(jail);
	close(jail->first_fd);
	if (jail->child < 0)
		return err_errno(e, "cannot make the namespaces (%s)",
			errno == ENOSPC   ? "end other jails, or raise user.max_*_namespaces"
			: errno == EAGAIN ? "ulimit -u allows no more processes"
					  : "see agent6 check sandbox");
	jail->report->layers.namespaces = jail->policy.network == NETWORK_HOST
						  ? "user mount pid ipc uts cgroup"
						  : "user mount pid ipc uts cgroup net";
	if (cgroup_enter(jail, jail->child, e) || write_maps(jail, e))
		return -1;
	/* PID 1 may have ended, with its reason in the report, so avoid SIGPIPE. */
	return send(jail->alive_fd, "", 1, MSG_NOSIGNAL) == 1
		       ? 0
		       : err_errno(e, "cannot release the jail");
}

/* Takes the mapped ids, in PID 1. The kernel drops the death signal when ids change, so it is set
 * afterwards; if the launcher died before that, its end of the pair tells. */
int namespaces_become(struct jail *jail, struct err *e)
{
	char byte;
	struct pollfd alive = {.fd = jail->first_fd};
	close(jail->alive_fd);
	if (read(jail->first_fd, &byte, 1) != 1)
		return err_set(e, "the launcher could not write the id maps");
	if ((jail->root == ROOT_HOST && setgroups(0, NULL)) ||
		setresgid(JAIL_ID, JAIL_ID, JAIL_ID) || setresuid(JAIL_ID, JAIL_ID, JAIL_ID))
		return err_errno(e, "cannot take the mapped ids");
	if (prctl(PR_SET_DUMPABLE, LAYER_ON("dumpable") ? 0 : 1))
		return err_errno(e, "cannot close this process to inspection");
	if (LAYER_ON("namespace_uts") && sethostname(ROOT_HOST_NAME, strlen(ROOT_HOST_NAME)))
		return err_errno(e, "cannot set the host name");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err_errno(e, "cannot ask to die with the launcher");
	return poll(&alive, 1, 0) ? err_set(e, "the launcher has ended") : 0;
}

/* Limits the jail to half of the watches on files and directories that a user may have. */
static bool limit_watches(void)
{
	static const char *const names[] = {"max_inotify_instances", "max_inotify_watches"};
	static const char *const of_user[] = {"max_user_instances", "max_user_watches"};
	bool limited = LAYER_ON("watches");
	for (size_t i = 0; limited && i < ARRAY_LEN(names); i++) {
		char path[64], text[32] = "";
		snprintf(path, sizeof(path), "proc/sys/fs/inotify/%s", of_user[i]);
		AUTO_FD int from = open(path, O_RDONLY | O_CLOEXEC);
		limited = from >= 0 && read(from, text, sizeof(text) - 1) > 0;
		snprintf(path, sizeof(path), "proc/sys/user/%s", names[i]);
		AUTO_FD int to = open(path, O_WRONLY | O_CLOEXEC);
		int len = snprintf(text, sizeof(text), "%ld\n", strtol(text, NULL, 10) / 2);
		limited = limited && to >= 0 && write(to, text, (size_t)len) == len;
	}
	return limited;
}

/* Limits the number of user namespaces to none, in addition to seccomp's refusal. The file is in
 * the jail's own /proc, which is made read-only afterwards: in the host's /proc the name would
 * belong to another user namespace. */
int namespaces_limit(struct jail *jail, struct err *e)
{
	struct layers *layers = &jail->report->layers;
	const unsigned long flags = MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
	if (layers->proc) /* there is none */
		return 0;
	int fd = open("proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
	layers->userns_limit = LAYER_ON("userns_limit") && fd >= 0 && write(fd, "0\n", 2) == 2;
	own_close(&fd);
	layers->watches = limit_watches();
	if (LAYER_ON("read_only_proc") && mount(NULL, "proc", NULL, flags, NULL))
		return err_errno(e, "cannot make /proc read-only");
	layers->proc = "read-only";
	if (!strcmp(layers->memory, "rlimit") && LAYER_ON("memory_watch"))
		layers->memory = "watch";
	return 0;
}
