/*
 * User namespaces that exist only to map the ids of a mount.
 *
 * Attack: a jail started by root whose command is root on the host. uid 0 owns /proc/sys and every
 * root file whatever its capabilities, and RLIMIT_NPROC does not count it. The command runs as an
 * unused uid instead, and its writable trees are mounted so that their owner on disk is that uid.
 */
#include "base/io.h"
#include "jail/jail.h"
#include <sched.h>
#include <sys/wait.h>

int idmap_write(pid_t pid, const char *file, const char *text, struct err *e)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return io_put(path, text, e);
}

/* Returns the kind of root. The first line of the map is that of uid 0, if there is one. */
enum root_kind idmap_root(void)
{
	char text[4096] = "";
	unsigned inside, outside, count;
	if (geteuid() != 0)
		return ROOT_NOT;
	AUTO_FD int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	if (read(fd, text, sizeof(text) - 1) <= 0 ||
		sscanf(text, "%u %u %u", &inside, &outside, &count) != 3)
		return ROOT_CONFINED;
	if (inside == 0 && outside != 0)
		return ROOT_NOT;
	return count > HOST_ID ? ROOT_HOST : ROOT_CONFINED;
}

/* Writes lines "on disk, on the host, count": one for the owner, the others around it. */
static int write_map(pid_t holder, const char *file, unsigned owner, struct err *e)
{
	char text[128];
	unsigned low = owner < DISK_IDS ? owner : DISK_IDS - 1;
	int used = snprintf(text, sizeof(text), "%u %u 1\n", owner, (unsigned)HOST_ID);
	if (low)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "0 %u %u\n",
			(unsigned)HOST_IDS_BASE, low);
	if (low + 1 < DISK_IDS)
		snprintf(text + used, sizeof(text) - (size_t)used, "%u %u %u\n", low + 1,
			(unsigned)HOST_IDS_BASE + low, DISK_IDS - 1 - low);
	return idmap_write(holder, file, text, e);
}

static int holders; /* not reaped yet */

static int leave(void *unused)
{
	(void)unused;
	return 0;
}

/* Opens a namespace by way of a process that has ended: until it is reaped, it still has its user
 * namespace. It sends no signal at its end, so only __WCLONE finds it. */
int idmap_open(uid_t uid, gid_t gid, struct err *e)
{
	static char stack[4096] __attribute__((aligned(16)));
	char path[64];
	int fd = -1;
	pid_t holder = clone(leave, stack + sizeof(stack), CLONE_NEWUSER | CLONE_VM, NULL);
	if (holder < 0)
		return err_errno(e, "cannot make an id map (see user.max_user_namespaces)");
	holders++;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)holder);
	if (!write_map(holder, "uid_map", uid, e) && !write_map(holder, "gid_map", gid, e) &&
		(fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		err_errno(e, "cannot open %s", path);
	return fd;
}

/* Reaps no more than there are: a failing call could change errno, which PID 1 may share. */
void idmap_collect(void)
{
	for (; holders; holders--)
		waitpid(-1, NULL, (int)__WCLONE);
}
