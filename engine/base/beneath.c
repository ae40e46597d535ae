#include "base/beneath.h"

#include "base/path.h"
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

int beneath_open(int dir_fd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.mode = (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int fd, tries = 64;
	do
		fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
	while (fd < 0 && (errno == EAGAIN || errno == EINTR) && --tries);
	return fd;
}

int beneath_place(int fd, char path[PATH_MAX])
{
	char link[40];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, path, PATH_MAX - 1);
	if (len < 0 || len == PATH_MAX - 1)
		return -1;
	path[len] = '\0';
	return 0;
}

const char *beneath_relative(int dir_fd, int fd, char path[PATH_MAX])
{
	char dir[PATH_MAX];
	if (beneath_place(dir_fd, dir) || beneath_place(fd, path) || !path_is_below(path, dir))
		return NULL;
	return path + (strcmp(dir, "/") ? strlen(dir) : 0) + 1;
}
