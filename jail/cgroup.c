/*
 * A control group of the jail's own, if the caller may make one: the only limit on the memory and
 * the processes of the whole jail together.
 *
 * Attack: a hundred processes that each stay below their own limit; memory that no limit of a
 * process counts (shared, in files of /tmp). Without a group the per-process limits remain, and the
 * report says so.
 */
#include "base/io.h"
#include "jail/jail.h"
#include <dirent.h>
#include <limits.h>
#include <time.h>

enum { LEAVE_TRIES = 200, LEAVE_PAUSE_NS = 5000000 };

/* The places of version 1's controllers, and of version 2's only tree; both may exist at once. */
static const struct hierarchy {
	bool v2;
	const char *line, *at; /* in /proc/self/cgroup, below /sys/fs/cgroup */
	const char *memory, *processes;
} hierarchies[] = {
	{true, "0::", "", "memory.max", "pids.max"},
	{false, ":memory:", "/memory", "memory.limit_in_bytes", NULL},
	{false, ":pids:", "/pids", NULL, "pids.max"},
};

static int put(const char *dir, const char *file, int64_t value)
{
	char path[PATH_MAX], text[32];
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	snprintf(text, sizeof(text), "%lld", (long long)value);
	return io_put(path, text, NULL);
}

/* Finds the caller's own group in `text` (/proc/self/cgroup). For version 2 finds its parent, since
 * only that may have both processes below and limits, if it has those controllers. */
static bool find_parent(const char *text, const struct hierarchy *hierarchy, char dir[PATH_MAX])
{
	AUTO_FREE char *given = NULL;
	const char *line = strstr(text, hierarchy->line);
	if (!line)
		return false;
	line += strlen(hierarchy->line);
	int used = snprintf(dir, PATH_MAX, "/sys/fs/cgroup%s", hierarchy->at);
	snprintf(dir + used, PATH_MAX - (size_t)used, "%.*s", (int)strcspn(line, "\n"), line);
	if (!hierarchy->v2)
		return true;
	if (strrchr(dir, '/') > dir + used)
		*strrchr(dir, '/') = '\0';
	AUTO_FD int fd = open(dir, O_PATH | O_CLOEXEC);
	return !io_read_file(fd, "cgroup.subtree_control", 4096, &given, NULL, NULL) &&
	       strstr(given, "memory") && strstr(given, "pids");
}

/* Removes the group of a launcher that was killed. */
static void sweep(const char *parent)
{
	DIR *dir = opendir(parent);
	const struct dirent *entry;
	int pid;
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "agent6-jail-%d", &pid) == 1 && kill(pid, 0) &&
			errno == ESRCH)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
}

static bool make(struct jail *jail, const char *parent, const struct hierarchy *hierarchy)
{
	AUTO_FREE char *dir = NULL;
	sweep(parent);
	if (asprintf(&dir, "%s/agent6-jail-%d", parent, (int)getpid()) < 0 || mkdir(dir, 0755))
		return false;
	if ((hierarchy->memory && put(dir, hierarchy->memory, jail->policy.memory_mb * MIB)) ||
		(hierarchy->processes && put(dir, hierarchy->processes, jail->policy.processes))) {
		rmdir(dir);
		return false;
	}
	/* Swap would only make the limit slow; not every kernel counts it. */
	put(dir, "memory.swap.max", 0);
	put(dir, "memory.oom.group", 1);
	jail->groups[jail->group_count++] = TAKE_PTR(dir);
	return true;
}

static bool is_required(const struct jail *jail, const char *layer)
{
	const char *word = json_string_value(json_object_get(jail->policy.require, layer));
	if (jail->policy.memory_by == MEMORY_BY_CGROUP && !strcmp(layer, "memory"))
		return true;
	return word && !strcmp(word, "cgroup");
}

/* Makes the groups. Moving a process into a group waits for all processors, milliseconds on a busy
 * host. Version 2 can start it inside; version 1 is used only if the policy requires a group. */
int cgroup_prepare(struct jail *jail, struct err *e)
{
	char parent[PATH_MAX];
	AUTO_FREE char *text = NULL;
	struct layers *layers = &jail->report->layers;
	/* A jail launched alone passes it on to PID 1. Once a process shares its memory with
	 * another one, the kernel searches the whole host to change it. */
	if (jail->strict && jail->order_fd < 0 && idmap_write(getpid(), OOM_FIRST, e))
		return -1;
	/* Without version 2's tree there is only something to do if the policy requires a group. */
	if (!LAYER_ON("cgroup") ||
		(!jail->policy.require && jail->policy.memory_by != MEMORY_BY_CGROUP &&
			access("/sys/fs/cgroup/cgroup.controllers", F_OK)) ||
		io_read_file(AT_FDCWD, "/proc/self/cgroup", 64 * 1024, &text, NULL, NULL))
		return 0;
	for (const struct hierarchy *h = hierarchies; h < hierarchies + ARRAY_LEN(hierarchies);
		h++) {
		bool wanted =
			h->v2 || (jail->group_fd < 0 &&
					 is_required(jail, h->memory ? "memory" : "processes"));
		if (!wanted || !find_parent(text, h, parent) || !make(jail, parent, h))
			continue;
		if (h->v2)
			jail->group_fd = open(jail->groups[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		layers->memory = h->memory ? "cgroup" : layers->memory;
		layers->processes = h->processes ? "cgroup" : layers->processes;
	}
	return 0;
}

int cgroup_enter(const struct jail *jail, pid_t pid, struct err *e)
{
	/* PID 1 of a strict jail has started in version 2's. */
	for (int i = jail->strict && jail->group_fd >= 0; i < jail->group_count; i++)
		if (put(jail->groups[i], "cgroup.procs", pid))
			return err_errno(e, "cannot enter the group %s", jail->groups[i]);
	return jail->strict && jail->order_fd >= 0 ? idmap_write(pid, OOM_FIRST, e) : 0;
}

/* Reports whether a file of a group has a line "`word` N" with N above 0. */
static bool has_event(const char *dir, const char *file, const char *word)
{
	char path[PATH_MAX];
	AUTO_FREE char *text = NULL;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (io_read_file(AT_FDCWD, path, 4096, &text, NULL, NULL))
		return false;
	size_t len = strlen(word);
	for (const char *line = text; line; line = strchr(line, '\n'), line += !!line)
		if (!strncmp(line, word, len) && line[len] == ' ')
			return strtoll(line + len, NULL, 10) > 0;
	return false;
}

const char *cgroup_limit(const struct jail *jail)
{
	const char *limit = NULL;
	for (int i = 0; i < jail->group_count; i++) {
		if (has_event(jail->groups[i], "memory.events", "oom_kill") ||
			has_event(jail->groups[i], "memory.oom_control", "oom_kill"))
			return "memory_mb";
		if (has_event(jail->groups[i], "pids.events", "max"))
			limit = "processes";
	}
	return limit;
}

/* Removes the groups. A group counts as busy for a moment after its last process was reaped. */
void cgroup_leave(struct jail *jail)
{
	while (jail->group_count) {
		AUTO_FREE char *dir =
			jail->groups[--jail->group_count]; /* TAKE_PTR would count twice */
		for (int left = LEAVE_TRIES; left && rmdir(dir) && errno == EBUSY; left--)
			nanosleep(&(struct timespec){.tv_nsec = LEAVE_PAUSE_NS}, NULL);
	}
	own_close(&jail->group_fd);
}
