/*
 * The hardened profile, without namespaces: Landlock restricts files, seccomp everything else.
 *
 * Attack: a daemon left behind, since no PID namespace dies with the command; files left in, or
 * read from, a shared /tmp; a command that is root because its launcher was.
 */
#include "jail/jail.h"
#include <grp.h>
#include <sys/wait.h>

enum { SWEEPS_MAX = 100000 };

/* Chooses the user. Root's command becomes the workspace's owner; if that is root too, there is no
 * other user. */
static int choose_user(struct jail *jail, struct err *e)
{
	struct stat st;
	if (jail->root != ROOT_HOST)
		return 0;
	if (stat(jail->policy.workspace, &st))
		return err_errno(e, "cannot examine %s", jail->policy.workspace);
	jail->host_uid = st.st_uid;
	jail->host_gid = st.st_gid;
	jail->report->layers.uid = st.st_uid ? "owner" : "root";
	if (!st.st_uid && !jail->policy.allow_root_jail)
		return err_set(e,
			"root started this and owns %s, so the command would run as "
			"root; " NOT_AS_ROOT,
			jail->policy.workspace);
	return 0;
}

static int make_temp(struct jail *jail, struct err *e)
{
	char path[] = "/tmp/agent6-jail-XXXXXX";
	if (!mkdtemp(path))
		return err_errno(e, "cannot make a private directory in /tmp");
	jail->temp_dir = strdup(path);
	if (chown(path, jail->host_uid, jail->host_gid))
		return err_errno(e, "cannot give %s to the command's user", path);
	/* Git fails over a system configuration that it may not read. */
	return policy_add_env(&jail->policy,
		json_pack("{s:s, s:s, s:s}", "HOME", path, "TMPDIR", path, "GIT_CONFIG_NOSYSTEM",
			"1"),
		e);
}

/* Prepares, in the launcher. */
int hardened_prepare(struct jail *jail, struct err *e)
{
	jail->report->layers.proc = "host";
	jail->report->layers.memory = LAYER_ON("memory_watch") ? "watch" : "rlimit";
	jail->report->layers.network = jail->policy.network == NETWORK_HOST ? "host" : "none";
	if (choose_user(jail, e))
		return -1;
	if (jail->policy.pty)
		return err_set(e,
			"the hardened profile has no terminals of its own; \"pty\" needs strict");
	if (layout_count(&jail->layout, PLACE_HIDE))
		return err_set(
			e, "the hardened profile cannot hide anything; \"hide\" needs strict");
	return hardened_adopt(jail, e) || make_temp(jail, e) ? -1 : 0;
}

int hardened_adopt(struct jail *jail, struct err *e)
{
	if (LAYER_ON("subreaper") && prctl(PR_SET_CHILD_SUBREAPER, 1))
		return err_errno(e, "cannot become the subreaper");
	/* Open it now: the command might leave no room in the system's table of files. */
	own_close(&jail->children_fd);
	jail->children_fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	return jail->children_fd < 0 ? err_errno(e, "cannot list this process's children") : 0;
}

/* Starts the command's process. Returns in the launcher only. */
int hardened_start(struct jail *jail, struct err *e)
{
	jail->launcher = getpid();
	jail->child = fork();
	if (jail->child < 0)
		return err_errno(e, "cannot start the command's process");
	if (!jail->child)
		_exit(jail_command(jail));
	jail->child_pidfd = (int)syscall(SYS_pidfd_open, jail->child, 0);
	return jail->child_pidfd < 0 ? err_errno(e, "cannot watch the command") : 0;
}

/* Changes the user, in the command's process. The kernel drops the death signal when ids change, so
 * it is set afterwards; and as the launcher may have died before that, when nothing would limit the
 * command, its parent is checked. */
int hardened_become(struct jail *jail, struct err *e)
{
	bool other = jail->root == ROOT_HOST && jail->host_uid;
	/* Both may be written only until the ids change. It has started nothing yet, which would
	 * stay outside of the group. */
	idmap_write(getpid(), OOM_FIRST, NULL);
	if (cgroup_enter(jail, getpid(), e))
		return -1;
	if (other &&
		(setgroups(0, NULL) || setresgid(jail->host_gid, jail->host_gid, jail->host_gid) ||
			setresuid(jail->host_uid, jail->host_uid, jail->host_uid)))
		return err_errno(e, "cannot become the workspace's owner");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err_errno(e, "cannot die with the launcher");
	return getppid() == jail->launcher ? 0 : err_set(e, "the launcher has ended");
}

static bool is_in(const pid_t *list, pid_t pid)
{
	while (*list && *list != pid)
		list++;
	return *list;
}

/* Kills and reaps the direct children that are not in `kept`; their children become this process's.
 * Returns how many there were. */
static int end_children(const struct jail *jail, const pid_t *kept, struct err *e)
{
	char text[65536] = "";
	int count = 0;
	long pid;
	if (pread(jail->children_fd, text, sizeof(text) - 1, 0) < 0)
		return err_errno(e, "cannot list the command's descendants");
	for (char *at = text; (pid = strtol(at, &at, 10)) > 0;)
		count += !is_in(kept, (pid_t)pid) && !kill((pid_t)pid, SIGKILL);
	for (char *at = text; (pid = strtol(at, &at, 10)) > 0;)
		if (!is_in(kept, (pid_t)pid))
			waitpid((pid_t)pid, NULL, 0);
	return count;
}

int hardened_sweep(const struct jail *jail, const pid_t *kept, struct err *e)
{
	for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
		if (!*kept && waitpid(-1, NULL, WNOHANG) < 0)
			return 0;
		int count = end_children(jail, kept, e);
		if (count < 0 || (!count && *kept))
			return count;
	}
	return err_set(e, "the command's descendants keep forking");
}
