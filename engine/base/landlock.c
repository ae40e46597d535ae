#include "base/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
	FILE_RIGHTS = LL_FS_EXECUTE | LL_FS_READ_FILE | LL_FS_WRITE_FILE | LL_FS_TRUNCATE |
		      LL_FS_IOCTL_DEV
};

int ll_allow_fd(int ruleset_fd, int fd, const char *path, uint64_t rights, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st))
		return err_errno(e, "Landlock: cannot examine %s", path);
	struct ll_path rule = {.allowed = rights, .parent_fd = fd};
	if (!S_ISDIR(st.st_mode))
		rule.allowed &= FILE_RIGHTS;
	if (rule.allowed && ll_add(ruleset_fd, LL_RULE_PATH_BENEATH, &rule))
		return err_errno(e, "Landlock: cannot allow %s", path);
	return 0;
}

int ll_allow(int ruleset_fd, const char *path, uint64_t rights, struct err *e)
{
	AUTO_FD int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	return fd < 0 ? err_errno(e, "Landlock: cannot open %s", path)
		      : ll_allow_fd(ruleset_fd, fd, path, rights, e);
}
