#include "jail/idmap.h"

#include "base/io.h"
#include "jail/jail.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int idmap_write(pid_t pid, const char *file, const char *text, struct err *e)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || io_write(fd, text, strlen(text)))
		return err_errno(e, "cannot write %s of the new user namespace", file);
	return 0;
}

enum root_kind idmap_root(void)
{
	AUTO_FREE char *text = NULL;
	unsigned inside, outside, count;
	if (geteuid() != 0)
		return ROOT_NOT;
	/* The first line is the one of uid 0, if any is. */
	if (io_read_file(AT_FDCWD, "/proc/self/uid_map", 4096, &text, NULL, NULL) ||
		sscanf(text, "%u %u %u", &inside, &outside, &count) != 3)
		return ROOT_CONFINED;
	if (inside == 0 && outside != 0)
		return ROOT_NOT;
	return count > HOST_ID ? ROOT_HOST : ROOT_CONFINED;
}

/* Lines "on disk, on the host, count": one for the owner, the others around it. */
static void map_text(unsigned owner, char *out, size_t size)
{
	unsigned low = owner < DISK_IDS ? owner : DISK_IDS - 1;
	int used = snprintf(out, size, "%u %u 1\n", owner, (unsigned)HOST_ID);
	if (low)
		used += snprintf(
			out + used, size - (size_t)used, "0 %u %u\n", (unsigned)HOST_IDS_BASE, low);
	if (low + 1 < DISK_IDS)
		snprintf(out + used, size - (size_t)used, "%u %u %u\n", low + 1,
			(unsigned)HOST_IDS_BASE + low, DISK_IDS - 1 - low);
}

static int open_namespace(pid_t holder, uid_t uid, gid_t gid, struct err *e)
{
	char path[64], text[128];
	map_text(uid, text, sizeof(text));
	if (idmap_write(holder, "uid_map", text, e))
		return -1;
	map_text(gid, text, sizeof(text));
	if (idmap_write(holder, "gid_map", text, e))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)holder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, "cannot open %s", path) : fd;
}

static __attribute__((noreturn)) int hold(void *unused)
{
	(void)unused;
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

int idmap_open(uid_t uid, gid_t gid, struct err *e)
{
	static char stack[4096] __attribute__((aligned(16)));
	pid_t holder = clone(hold, stack + sizeof(stack), CLONE_NEWUSER | CLONE_VM | SIGCHLD, NULL);
	if (holder < 0)
		return err_errno(e, "cannot make a user namespace for the id map");
	int fd = open_namespace(holder, uid, gid, e);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	return fd;
}
