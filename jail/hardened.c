/*
 * Attack: a daemon left behind where no PID namespace dies with the command; files left in, or read
 * from, a shared /tmp; a command that is root because its launcher was.
 */
#include "jail/hardened.h"

#include "jail/leave_out.h"
#include "jail/supervise.h"
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { SWEEPS_MAX = 100000 };

static int grant_temp(struct jail *j, struct err *e)
{
	struct layout *l = &j->layout;
	char *path = strdup(j->temp_dir);
	if (!path || l->count == LAYOUT_PLACES_MAX)
		return err_set(e, "out of memory");
	l->place[l->count++] = (struct place){
		.path = path, .kind = PLACE_WRITE, .exec = true, .directory = true, .tree_fd = -1};
	/* git takes a system configuration that it may not read for a damaged one. */
	return policy_setenv(&j->policy, "HOME", path, e) ||
			       policy_setenv(&j->policy, "TMPDIR", path, e) ||
			       policy_setenv(&j->policy, "GIT_CONFIG_NOSYSTEM", "1", e)
		       ? -1
		       : 0;
}

/* Root's command takes the workspace's owner; where that is root too there is nobody to become. */
static int choose_user(struct jail *j, struct err *e)
{
	struct stat st;
	if (geteuid() != 0)
		return 0;
	if (stat(j->policy.workspace, &st))
		return err_errno(e, "cannot examine %s", j->policy.workspace);
	j->host_uid = st.st_uid;
	j->host_gid = st.st_gid;
	j->report->layers.uid = st.st_uid ? "owner" : "root";
	if (!st.st_uid && !j->policy.allow_root_jail)
		return err_set(e,
			"root started this and owns %s, so the command would run as root; "
			"run as an ordinary user or set \"allow_root_jail\"",
			j->policy.workspace);
	return 0;
}

int hardened_prepare(struct jail *j, struct err *e)
{
	if (choose_user(j, e))
		return -1;
	if (LAYER_ON("subreaper") && prctl(PR_SET_CHILD_SUBREAPER, 1))
		return err_errno(e, "cannot become the subreaper");
	j->temp_dir = strdup("/tmp/agent6-jail-XXXXXX");
	if (!j->temp_dir)
		return err_set(e, "out of memory");
	if (!mkdtemp(j->temp_dir)) {
		free(TAKE_PTR(j->temp_dir));
		return err_errno(e, "cannot make a private directory in /tmp");
	}
	if (j->as_root && chown(j->temp_dir, j->host_uid, j->host_gid))
		return err_errno(e, "cannot give %s to the command's user", j->temp_dir);
	j->report->layers.reaper = true;
	if (layout_count(&j->layout, PLACE_HIDE))
		return err_set(
			e, "the hardened profile cannot hide anything; \"hide\" needs strict");
	j->report->layers.proc = "host";
	j->report->layers.network = j->policy.network == NETWORK_HOST ? "host" : "none";
	return grant_temp(j, e);
}

int hardened_start(struct jail *j, struct err *e)
{
	j->child = fork();
	if (j->child < 0)
		return err_errno(e, "cannot start the command's process");
	if (!j->child) {
		_exit(jail_steps(j, j->command) ? 125 : 0);
	}
	j->child_pidfd = (int)syscall(SYS_pidfd_open, j->child, 0);
	if (j->child_pidfd >= 0)
		return 0;
	err_errno(e, "cannot watch the command");
	kill(j->child, SIGKILL); /* nobody could wait for its end */
	supervise_collect(j, NULL);
	return -1;
}

/* The kernel forgets the death signal when ids change, so it is asked for afterwards. */
int hardened_become(struct jail *j, struct err *e)
{
	bool other = j->as_root && j->host_uid;
	if (other && (setgroups(0, NULL) || setresgid(j->host_gid, j->host_gid, j->host_gid) ||
			     setresuid(j->host_uid, j->host_uid, j->host_uid)))
		return err_errno(e, "cannot become the workspace's owner");
	return prctl(PR_SET_PDEATHSIG, SIGKILL) ? err_errno(e, "cannot die with the launcher") : 0;
}

/* Direct children only: killing them hands theirs to us, so the loop ends when there are none. */
static int kill_children(struct err *e)
{
	char name[64], text[65536];
	snprintf(name, sizeof(name), "/proc/self/task/%d/children", (int)getpid());
	AUTO_FD int list = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t len = list < 0 ? -1 : read(list, text, sizeof(text) - 1);
	if (len < 0)
		return err_errno(e, "cannot list the command's descendants");
	text[len] = '\0';
	char *end = text;
	for (long pid; (pid = strtol(end, &end, 10)) > 0;)
		kill((pid_t)pid, SIGKILL);
	return 0;
}

static void add_usage(struct rusage *sum, const struct rusage *one)
{
	timeradd(&sum->ru_utime, &one->ru_utime, &sum->ru_utime);
	timeradd(&sum->ru_stime, &one->ru_stime, &sum->ru_stime);
	if (one->ru_maxrss > sum->ru_maxrss)
		sum->ru_maxrss = one->ru_maxrss;
}

int hardened_sweep(struct rusage *used, struct err *e)
{
	for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
		struct rusage one;
		pid_t pid = wait4(-1, NULL, WNOHANG, &one);
		if (pid < 0 && errno == ECHILD)
			return 0;
		if (pid > 0) {
			add_usage(used, &one);
			continue;
		}
		if (kill_children(e))
			return -1;
		pid = wait4(-1, NULL, 0, &one);
		if (pid > 0)
			add_usage(used, &one);
	}
	return err_set(e, "the command's descendants keep forking");
}

/* Directories are first moved up, so that no depth that the command could build matters here. */
static bool empty_one(int top_fd, const char *name, unsigned long *moved)
{
	if (fchmodat(top_fd, name, 0700, 0))
		return false;
	AUTO_FD int fd = openat(top_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(dup(fd));
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		char up[32];
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!unlinkat(fd, entry->d_name, 0))
			continue;
		snprintf(up, sizeof(up), ".remove-%lu", (*moved)++);
		if (fchmodat(fd, entry->d_name, 0700, 0) || renameat(fd, entry->d_name, top_fd, up))
			break;
	}
	if (dir)
		closedir(dir);
	return !unlinkat(top_fd, name, AT_REMOVEDIR);
}

void hardened_clean(struct jail *j)
{
	if (!j->temp_dir)
		return;
	unsigned long moved = 0;
	AUTO_FD int top = open(j->temp_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (bool progress = top >= 0; progress;) {
		progress = false;
		DIR *dir = fdopendir(openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		const struct dirent *entry;
		while (dir && (entry = readdir(dir))) {
			if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
				continue;
			progress = !unlinkat(top, entry->d_name, 0) ||
				   empty_one(top, entry->d_name, &moved) || progress;
		}
		if (dir)
			closedir(dir);
	}
	rmdir(j->temp_dir);
	free(TAKE_PTR(j->temp_dir));
}
