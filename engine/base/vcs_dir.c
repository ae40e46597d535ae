#include "base/vcs_dir.h"

#include "base/cleanup.h"
#include "base/vcs.h"
#include <dirent.h>
#include <fcntl.h>

unsigned vcs_dir_parts(int dir_fd)
{
	unsigned parts = 0;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		own_close(&fd);
		return VCS_HEAD | VCS_OBJECTS | VCS_REFS;
	}
	errno = 0;
	for (const struct dirent *entry; (entry = readdir(dir));)
		parts |= vcs_part(entry->d_name);
	if (errno)
		parts |= VCS_HEAD | VCS_OBJECTS | VCS_REFS;
	closedir(dir);
	return parts;
}
