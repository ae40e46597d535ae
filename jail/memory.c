/*
 * Memory without a group: watches the sum over the whole jail, more often the closer it is to
 * memory_mb; above that the jail ends.
 *
 * Attack: memory that no limit of a process counts: shared, in files of /tmp or of no directory, in
 * segments and queues of System V, in page tables, of many processes at once. Clean pages of files
 * do not count. PID 1 of a strict jail looks at the jail's own /proc; on hardened the launcher
 * looks at its descendants. docs/confinement.md lists what a look does not see.
 */
#include "base/clock.h"
#include "base/io.h"
#include "jail/jail.h"
#include <dirent.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

/* Memory cannot fill faster than 4 GiB a second, and looking takes at most a 20th of the time. */
enum { LEAST_MS = 20, MOST_MS = 500, BYTES_PER_MS = 4 * MIB, COST_FACTOR = 20 };
enum { SEEN_MAX = 4096, TEXT_MAX = 64 * 1024, QUEUE_MAX = 16 * 1024, NAME_MAX_BYTES = 32 };

/* One mapping of /proc/PID/smaps, in KiB. */
struct mapping {
	dev_t device;
	uint64_t inode, pss, swap, anonymous;
	bool segment; /* of System V */
};

struct look {
	int proc_fd;
	/* The second of two looks counts shared pages once, from smaps. The first gives an upper
	 * bound, from status, and finds the files without a directory. */
	bool exact;
	uint64_t bytes;   /* the processes' memory */
	uint64_t objects; /* memory shared by name or descriptor */
	int64_t tasks;
	uint64_t seen[SEEN_MAX]; /* inodes of files without a directory, hashed; 0: free */
};

typedef void visit_fn(struct look *look, const char *pid);

/* --- devices ---------------------------------------------------------------------------------- */

/* The layout of linux/stat.h, which cannot be included with every C library. */
struct file_status {
	uint32_t mask, block_bytes;
	uint64_t attributes;
	uint32_t links, uid, gid, mode;
	uint64_t inode, size, blocks, known_attributes;
	uint64_t times[8];
	uint32_t of_device[2], device[2]; /* major, minor */
	uint64_t rest[14];
};
enum { STATUS_INODE = 0x100, STATUS_BLOCKS = 0x400, STATUS_AS_KNOWN = 0x5800 };

/* Reads what the kernel knows already, and mounts nothing: a file on a dead server would block. */
static bool read_status(int fd, const char *path, struct file_status *st)
{
	return !syscall(SYS_statx, fd, path, STATUS_AS_KNOWN, STATUS_INODE | STATUS_BLOCKS, st);
}

static dev_t device_of(const struct file_status *st)
{
	return makedev(st->device[0], st->device[1]);
}

/* The devices of files in memory without a directory, and of a strict jail's own root. */
static dev_t memory_device, root_device;

static void find_devices(const struct jail *jail)
{
	struct file_status st;
	AUTO_FD int fd = memfd_create("", MFD_CLOEXEC);
	if (fd >= 0 && read_status(fd, "", &st))
		memory_device = device_of(&st);
	if (jail->strict && read_status(AT_FDCWD, "/", &st))
		root_device = device_of(&st);
}

/* --- files of /proc -------------------------------------------------------------------------- */

static int open_at(const struct look *look, const char *pid, const char *file)
{
	char path[4 * NAME_MAX_BYTES];
	snprintf(path, sizeof(path), "%s/%s", pid, file);
	return openat(look->proc_fd, path, O_RDONLY | O_CLOEXEC);
}

static bool read_text(const struct look *look, const char *pid, const char *file, char *text)
{
	AUTO_FD int fd = open_at(look, pid, file);
	ssize_t len = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

/* Calls `visit` for every number in a directory; allocates nothing, which PID 1 must not. */
static void each_number(struct look *look, int fd, const char *prefix, visit_fn *visit)
{
	char room[4096] __attribute__((aligned(8))), name[3 * NAME_MAX_BYTES];
	long len;
	while ((len = syscall(SYS_getdents64, fd, room, sizeof(room))) > 0)
		for (long at = 0; at < len;) {
			const struct entry *entry = (const void *)(room + at);
			at += entry->size;
			if (*entry->name < '0' || *entry->name > '9')
				continue;
			snprintf(name, sizeof(name), "%s%.20s", prefix, entry->name);
			visit(look, name);
		}
}

static uint64_t number_after(const char *text, const char *name)
{
	const char *found = strstr(text, name);
	return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

/* --- files in memory without a directory ------------------------------------------------------ */

/* Reports whether a file was noted before. If there is no room it was not, and counts again. */
static bool note_seen(struct look *look, uint64_t inode, bool add)
{
	for (size_t i = 0; i < SEEN_MAX; i++) {
		uint64_t *slot = &look->seen[(inode + i) % SEEN_MAX];
		if (*slot == inode)
			return true;
		if (!*slot) {
			*slot = add ? inode : 0;
			return false;
		}
	}
	return false;
}

/* Looks at a descriptor. `path`: PID/fd/N. */
static void look_descriptor(struct look *look, const char *path)
{
	struct file_status st;
	if (read_status(look->proc_fd, path, &st) && device_of(&st) == memory_device &&
		!note_seen(look, st.inode, true))
		look->objects += st.blocks * 512;
}

static void look_descriptors(struct look *look, const char *pid)
{
	char prefix[2 * NAME_MAX_BYTES];
	AUTO_FD int fd = open_at(look, pid, "fd");
	snprintf(prefix, sizeof(prefix), "%s/fd/", pid);
	if (fd >= 0)
		each_number(look, fd, prefix, look_descriptor);
}

/* --- a process -------------------------------------------------------------------------------- */

/* Adds a mapping's own memory, not that of its file, which is counted already. */
static void add_mapping(struct look *look, const struct mapping *mapping)
{
	bool memory = mapping->device == memory_device;
	bool counted = mapping->segment || (root_device && mapping->device == root_device) ||
		       (memory && note_seen(look, mapping->inode, false));
	uint64_t own = mapping->anonymous < mapping->pss ? mapping->anonymous : mapping->pss;
	bool whole = !counted && (memory || !mapping->inode);
	look->bytes += ((whole ? mapping->pss : own) + (counted ? 0 : mapping->swap)) * 1024;
}

static void read_line(struct look *look, const char *line, struct mapping *mapping)
{
	unsigned major_number, minor_number;
	unsigned long long inode;
	if (sscanf(line, "%*x-%*x %*s %*x %x:%x %llu", &major_number, &minor_number, &inode) == 3) {
		add_mapping(look, mapping);
		*mapping = (struct mapping){.device = makedev(major_number, minor_number),
			.inode = inode,
			.segment = strstr(line, " /SYSV")};
	} else if (!strncmp(line, "Pss:", 4)) {
		mapping->pss = strtoull(line + 4, NULL, 10);
	} else if (!strncmp(line, "SwapPss:", 8)) {
		mapping->swap = strtoull(line + 8, NULL, 10);
	} else if (!strncmp(line, "Anonymous:", 10)) {
		mapping->anonymous = strtoull(line + 10, NULL, 10);
	}
}

/* Looks at a process's mappings. Returns false if they may not be read, or not to their end. */
static bool look_mappings(struct look *look, const char *pid)
{
	static char text[TEXT_MAX];
	struct mapping mapping = {0};
	AUTO_FD int fd = open_at(look, pid, "smaps");
	size_t used = 0;
	ssize_t len = -1;
	while (fd >= 0 && (len = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		char *line = text, *end;
		text[used += (size_t)len] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			read_line(look, line, &mapping);
		}
		used = strlen(line);
		memmove(text, line, used + 1);
	}
	add_mapping(look, &mapping);
	return !len;
}

/* Looks at a process or one of its tasks, by its status. Returns false if it has no memory (any
 * more). */
static bool look_at_memory(struct look *look, const char *pid, const char *text)
{
	if (!strstr(text, "\nVmRSS:"))
		return false;
	uint64_t before = look->bytes;
	if (!look->exact)
		look_descriptors(look, pid);
	if (!look->exact || !look_mappings(look, pid))
		look->bytes = before + 1024 * (number_after(text, "\nRssAnon:") +
						      number_after(text, "\nRssShmem:") +
						      number_after(text, "\nVmSwap:"));
	look->bytes += 1024 * number_after(text, "\nVmPTE:");
	return true;
}

static void look_at_task(struct look *look, const char *pid)
{
	static char text[TEXT_MAX];
	static bool found; /* once one task is counted, the others have the same memory */
	const char *slash = strchr(pid, '/');
	if (!slash)
		found = false;
	else if (!found)
		found = read_text(look, pid, "status", text) && look_at_memory(look, pid, text);
}

static void look_at_process(struct look *look, const char *pid)
{
	static char text[TEXT_MAX];
	char prefix[2 * NAME_MAX_BYTES];
	if (!read_text(look, pid, "status", text))
		return;
	look->tasks += look->exact ? 0 : (int64_t)number_after(text, "\nThreads:");
	if (look_at_memory(look, pid, text) || number_after(text, "\nThreads:") < 2)
		return;
	/* The first thread has ended, and the memory belongs to the others. */
	AUTO_FD int fd = open_at(look, pid, "task");
	snprintf(prefix, sizeof(prefix), "%s/task/", pid);
	look_at_task(look, pid);
	if (fd >= 0)
		each_number(look, fd, prefix, look_at_task);
}

/* --- all of them ------------------------------------------------------------------------------ */

static pid_t queue[QUEUE_MAX];
static size_t queued;

static void queue_children(struct look *look, const char *task)
{
	static char text[TEXT_MAX];
	char *end = text;
	read_text(look, task, "children", text);
	for (long pid; queued < QUEUE_MAX && (pid = strtol(end, &end, 10)) > 0;)
		queue[queued++] = (pid_t)pid;
}

/* Visits, in the launcher of a hardened jail, its descendants. */
static void each_descendant(struct look *look)
{
	char pid[NAME_MAX_BYTES], prefix[2 * NAME_MAX_BYTES];
	queued = 0;
	queue_children(look, "thread-self");
	for (size_t i = 0; i < queued; i++) {
		snprintf(pid, sizeof(pid), "%d", (int)queue[i]);
		look_at_process(look, pid);
		AUTO_FD int fd = open_at(look, pid, "task");
		snprintf(prefix, sizeof(prefix), "%s/task/", pid);
		if (fd >= 0)
			each_number(look, fd, prefix, queue_children);
	}
}

/* Returns the memory of a strict jail's own namespaces. */
static uint64_t namespace_bytes(void)
{
	struct statfs root;
	struct shm_info segments;
	union {
		struct msginfo all;
		struct msqid_ds one;
	} queues;
	uint64_t bytes = 0;
	if (!statfs("/", &root))
		bytes += (uint64_t)root.f_bsize * (root.f_blocks - root.f_bfree);
	if (shmctl(0, SHM_INFO, (void *)&segments) >= 0)
		bytes += (segments.shm_rss + segments.shm_swp) * (uint64_t)getpagesize();
	if (msgctl(0, MSG_INFO, &queues.one) >= 0)
		bytes += (uint64_t)queues.all.msgtql;
	return bytes;
}

static uint64_t look_at_all(const struct jail *jail, struct look *look, bool exact)
{
	if (!exact)
		memset(look, 0, sizeof(*look));
	look->exact = exact;
	look->bytes = 0;
	AUTO_FD int fd = openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	look->proc_fd = fd;
	if (jail->strict) {
		look->objects += exact ? 0 : namespace_bytes();
		each_number(look, fd, "", look_at_process);
	} else {
		each_descendant(look);
	}
	return look->bytes + look->objects;
}

int memory_look(struct jail *jail, bool ended)
{
	static struct look look;
	static int
		/* The number of looks in a row; a process shares all of its memory with one that it
		 * has just started. */
		above;
	uint64_t most = (uint64_t)jail->policy.memory_mb * MIB;
	int64_t begin_ms = clock_monotonic_ms();
	if (!memory_device)
		find_devices(jail);
	uint64_t bytes = look_at_all(jail, &look, false);
	jail->report->full |= look.tasks + ended >= jail->policy.processes;
	if (bytes > most)
		bytes = look_at_all(jail, &look, true);
	above = bytes > most ? above + 1 : 0;
	if (above > 1)
		jail->report->limit = "memory_mb";
	int64_t wait_ms = bytes < most ? (int64_t)((most - bytes) / BYTES_PER_MS) : 0;
	int64_t least_ms = COST_FACTOR * (clock_monotonic_ms() - begin_ms);
	wait_ms = wait_ms > least_ms || above ? wait_ms : least_ms;
	return wait_ms < LEAST_MS ? LEAST_MS : wait_ms > MOST_MS ? MOST_MS : (int)wait_ms;
}

/* Returns the time until the first look, before which a short command costs nothing. */
int memory_first_ms(const struct jail *jail)
{
	int64_t ms = jail->policy.memory_mb * MIB / BYTES_PER_MS;
	return ms < LEAST_MS ? LEAST_MS : ms > MOST_MS ? MOST_MS : (int)ms;
}

bool memory_watched(const struct jail *jail)
{
	return !strcmp(jail->report->layers.memory, "watch");
}
