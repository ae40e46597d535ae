/*
 * The hardened profile: no namespaces. Landlock is the wall around files, seccomp around the rest.
 *
 * Attack: a daemon left behind where no PID namespace dies with the command; files left in, or read
 * from, a shared /tmp; a command that is root because its launcher was.
 */
#include "jail/jail.h"
#include <grp.h>
#include <sys/wait.h>

enum { SWEEPS_MAX = 100000 };

/* Root's command takes the workspace's owner; where that is root too there is nobody to become. */
static int choose_user(struct jail *j, struct err *e)
{
	struct stat st;
	if (j->root != ROOT_HOST)
		return 0;
	if (stat(j->policy.workspace, &st))
		return err_errno(e, "cannot examine %s", j->policy.workspace);
	j->host_uid = st.st_uid;
	j->host_gid = st.st_gid;
	j->report->layers.uid = st.st_uid ? "owner" : "root";
	if (!st.st_uid && !j->policy.allow_root_jail)
		return err_set(e,
			"root started this and owns %s, so the command would run as "
			"root; " NOT_AS_ROOT,
			j->policy.workspace);
	return 0;
}

static int make_temp(struct jail *j, struct err *e)
{
	char path[] = "/tmp/agent6-jail-XXXXXX";
	if (!mkdtemp(path))
		return err_errno(e, "cannot make a private directory in /tmp");
	j->temp_dir = strdup(path);
	if (chown(path, j->host_uid, j->host_gid))
		return err_errno(e, "cannot give %s to the command's user", path);
	/* git takes a system configuration that it may not read for a damaged one. */
	return policy_add_env(&j->policy,
		json_pack("{s:s, s:s, s:s}", "HOME", path, "TMPDIR", path, "GIT_CONFIG_NOSYSTEM",
			"1"),
		e);
}

/* In the launcher. */
int hardened_prepare(struct jail *j, struct err *e)
{
	j->report->layers.proc = "host";
	j->report->layers.memory = LAYER_ON("memory_watch") ? "watch" : "rlimit";
	j->report->layers.network = j->policy.network == NETWORK_HOST ? "host" : "none";
	if (choose_user(j, e))
		return -1;
	if (j->policy.pty)
		return err_set(e,
			"the hardened profile has no terminals of its own; \"pty\" needs strict");
	if (layout_count(&j->layout, PLACE_HIDE))
		return err_set(
			e, "the hardened profile cannot hide anything; \"hide\" needs strict");
	return hardened_adopt(j, e) || make_temp(j, e) ? -1 : 0;
}

int hardened_adopt(struct jail *j, struct err *e)
{
	if (LAYER_ON("subreaper") && prctl(PR_SET_CHILD_SUBREAPER, 1))
		return err_errno(e, "cannot become the subreaper");
	/* Now: the command might leave no room in the system's table of files. */
	own_close(&j->children_fd);
	j->children_fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	return j->children_fd < 0 ? err_errno(e, "cannot list this process's children") : 0;
}

/* Returns in the launcher only. */
int hardened_start(struct jail *j, struct err *e)
{
	j->launcher = getpid();
	j->child = fork();
	if (j->child < 0)
		return err_errno(e, "cannot start the command's process");
	if (!j->child)
		_exit(jail_command(j));
	j->child_pidfd = (int)syscall(SYS_pidfd_open, j->child, 0);
	return j->child_pidfd < 0 ? err_errno(e, "cannot watch the command") : 0;
}

/* In the command's process. The kernel forgets the death signal when ids change, so it is asked for
 * afterwards; the launcher may have died before that, and nothing would bound the command. */
int hardened_become(struct jail *j, struct err *e)
{
	bool other = j->root == ROOT_HOST && j->host_uid;
	idmap_write(getpid(), OOM_FIRST, NULL); /* its own file only until the ids change */
	if (other && (setgroups(0, NULL) || setresgid(j->host_gid, j->host_gid, j->host_gid) ||
			     setresuid(j->host_uid, j->host_uid, j->host_uid)))
		return err_errno(e, "cannot become the workspace's owner");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err_errno(e, "cannot die with the launcher");
	return getppid() == j->launcher ? 0 : err_set(e, "the launcher has ended");
}

static bool is_in(const pid_t *list, pid_t pid)
{
	while (*list && *list != pid)
		list++;
	return *list;
}

/* Kills and collects the direct children that are not in `kept`, which hands theirs to this
 * process. Returns how many there were. */
static int end_children(const struct jail *j, const pid_t *kept, struct err *e)
{
	char text[65536] = "";
	int count = 0;
	long pid;
	if (pread(j->children_fd, text, sizeof(text) - 1, 0) < 0)
		return err_errno(e, "cannot list the command's descendants");
	for (char *at = text; (pid = strtol(at, &at, 10)) > 0;)
		count += !is_in(kept, (pid_t)pid) && !kill((pid_t)pid, SIGKILL);
	for (char *at = text; (pid = strtol(at, &at, 10)) > 0;)
		if (!is_in(kept, (pid_t)pid))
			waitpid((pid_t)pid, NULL, 0);
	return count;
}

int hardened_sweep(const struct jail *j, const pid_t *kept, struct err *e)
{
	for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
		if (!*kept && waitpid(-1, NULL, WNOHANG) < 0)
			return 0;
		int count = end_children(j, kept, e);
		if (count < 0 || (!count && *kept))
			return count;
	}
	return err_set(e, "the command's descendants keep forking");
}
