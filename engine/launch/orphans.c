#include "launch/orphans.h"

#include "base/child.h"
#include "base/io.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { ROUNDS_MAX = 10000, LIST_BYTES_MAX = 1 << 20, STATUS_BYTES_MAX = 16 * 1024 };

static bool adopted;

void orphans_adopt(void)
{
	adopted = !prctl(PR_SET_CHILD_SUBREAPER, 1);
}

typedef int each_fn(pid_t pid);

/* Calls `each` for the orphans of this process. Returns the sum of its answers; -1: they cannot be
 * listed. */
static int for_each(each_fn *each)
{
	char path[64];
	int sum = 0;
	DIR *tasks = opendir("/proc/self/task");
	for (const struct dirent *task; tasks && (task = readdir(tasks));) {
		AUTO_FREE char *text = NULL;
		if (*task->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/children", task->d_name);
		if (io_read_file(AT_FDCWD, path, LIST_BYTES_MAX, &text, NULL, NULL)) {
			sum = -1;
			break;
		}
		for (char *at = text; (at = at + strspn(at, " ")) && *at; at += strcspn(at, " ")) {
			pid_t pid = (pid_t)strtol(at, NULL, 10);
			sum += pid > 0 && !child_is_own(pid) ? each(pid) : 0;
		}
	}
	if (!tasks)
		return -1;
	closedir(tasks);
	return sum;
}

static bool is_jailed(pid_t pid)
{
	char path[64];
	AUTO_FREE char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return !io_read_file(AT_FDCWD, path, STATUS_BYTES_MAX, &text, NULL, NULL) &&
	       strstr(text, "\nNoNewPrivs:\t1\n");
}

static int end_one(pid_t pid)
{
	if (!is_jailed(pid))
		return 0;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return 1;
}

int orphans_end(void)
{
	int ended = 0;
	for (int round = 0; adopted && round < ROUNDS_MAX; round++) {
		int count = for_each(end_one);
		if (count <= 0)
			return count < 0 ? -1 : ended;
		ended += count;
	}
	return -1;
}

static int collect_one(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == pid;
}

void orphans_collect(void)
{
	if (adopted)
		for_each(collect_one);
}
