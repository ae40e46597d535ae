#include "jail/cgroup.h"

#include "base/io.h"
#include "jail/leave_out.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LEAVE_TRIES = 200, LEAVE_PAUSE_NS = 5000000, MIB = 1024 * 1024 };

/* Where version 1 keeps its controllers, and version 2 its only tree; both may be there at once. */
static const struct hierarchy {
	const char *line, *at; /* in /proc/self/cgroup, below /sys/fs/cgroup */
	const char *memory, *processes;
} hierarchies[] = {
	{"0::", "", "memory.max", "pids.max"},
	{":memory:", "/memory", "memory.limit_in_bytes", NULL},
	{":pids:", "/pids", NULL, "pids.max"},
};

static int put(const char *dir, const char *file, long long value)
{
	char path[PATH_MAX], text[32];
	if (!file)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	int len = snprintf(text, sizeof(text), "%lld", value);
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -1 : io_write(fd, text, (size_t)len);
}

/* The caller's own group in `text` (/proc/self/cgroup), and for version 2 its parent, which alone
 * may hold both processes below and limits. */
static bool find_parent(const char *text, const struct hierarchy *h, char dir[PATH_MAX])
{
	const char *line = strstr(text, h->line);
	if (!line)
		return false;
	line += strlen(h->line);
	int used = snprintf(dir, PATH_MAX, "/sys/fs/cgroup%s", h->at);
	snprintf(dir + used, PATH_MAX - (size_t)used, "%.*s", (int)strcspn(line, "\n"), line);
	if (h->memory && h->processes && strrchr(dir, '/') > dir + used)
		*strrchr(dir, '/') = '\0';
	return true;
}

/* A launcher that was killed could not remove its group; the next one does. */
static void sweep(const char *parent)
{
	static const char prefix[] = "agent6-jail-";
	DIR *dir = opendir(parent);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		bool ours = !strncmp(entry->d_name, prefix, sizeof(prefix) - 1);
		long pid = ours ? strtol(entry->d_name + sizeof(prefix) - 1, NULL, 10) : 0;
		if (pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

static bool make(struct jail *j, const char *parent, const struct hierarchy *h)
{
	const struct limits *l = &j->policy.limits;
	char dir[PATH_MAX];
	sweep(parent);
	if (snprintf(dir, sizeof(dir), "%s/agent6-jail-%d", parent, (int)getpid()) >= PATH_MAX ||
		mkdir(dir, 0755))
		return false;
	j->groups[j->group_count] = strdup(dir);
	if (!j->groups[j->group_count] || put(dir, h->memory, l->memory_mb * MIB) ||
		put(dir, h->processes, l->processes)) {
		free(TAKE_PTR(j->groups[j->group_count]));
		rmdir(dir);
		return false;
	}
	j->group_count++;
	/* Swap would only make the limit slow; not every kernel counts it. */
	put(dir, "memory.swap.max", 0);
	put(dir, "memory.oom.group", 1);
	return true;
}

/* Moving a process into a group waits for all processors, milliseconds on a busy host. Version 2
 * can start it inside; version 1 is used only where the policy requires a group. */
static bool is_worthwhile(const struct jail *j, const struct hierarchy *h)
{
	const struct layers *layers = &j->report->layers;
	const char *memory = json_string_value(json_object_get(j->policy.require, "memory")),
		   *processes = json_string_value(json_object_get(j->policy.require, "processes"));
	if (h->memory && h->processes)
		return true;
	return h->memory ? memory && strcmp(layers->memory, memory) != 0
			 : processes && strcmp(layers->processes, processes) != 0;
}

int cgroup_prepare(struct jail *j, struct err *e)
{
	(void)e;
	char parent[PATH_MAX], *text = NULL;
	if (!LAYER_ON("cgroup") ||
		io_read_file(AT_FDCWD, "/proc/self/cgroup", 64 * 1024, &text, NULL, NULL))
		return 0;
	struct layers *layers = &j->report->layers;
	for (size_t i = 0; i < ARRAY_LEN(hierarchies); i++) {
		const struct hierarchy *h = &hierarchies[i];
		if (!is_worthwhile(j, h) || !find_parent(text, h, parent) || !make(j, parent, h))
			continue;
		if (h->memory && h->processes)
			j->group_fd = open(j->groups[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		layers->memory = h->memory ? "cgroup" : layers->memory;
		layers->processes = h->processes ? "cgroup" : layers->processes;
	}
	free(text);
	return 0;
}

int cgroup_enter(const struct jail *j, pid_t pid, struct err *e)
{
	for (size_t i = j->group_fd >= 0; i < j->group_count; i++)
		if (put(j->groups[i], "cgroup.procs", pid))
			return err_errno(e, "cannot enter the group %s", j->groups[i]);
	return 0;
}

/* A group counts as busy for a moment after its last process was collected. */
void cgroup_leave(struct jail *j)
{
	for (size_t i = 0; i < j->group_count; i++) {
		for (int tries = 0; tries < LEAVE_TRIES && rmdir(j->groups[i]) && errno == EBUSY;
			tries++)
			nanosleep(&(struct timespec){.tv_nsec = LEAVE_PAUSE_NS}, NULL);
		free(j->groups[i]);
	}
	j->group_count = 0;
	own_close(&j->group_fd);
}
