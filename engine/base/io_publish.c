#include "base/io.h"
#include "base/tree.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>

/* Makes a temporary name. `mark` is its unique part. */
static int name_temp(const char *name, const char *mark, char temp[IO_TEMP_BYTES], struct err *e)
{
	return snprintf(temp, IO_TEMP_BYTES, ".%s.%s.tmp", name, mark) >= IO_TEMP_BYTES
		       ? err_set(e, "the file name %s is too long", name)
		       : 0;
}

static int name_random(const char *name, char temp[IO_TEMP_BYTES], struct err *e)
{
	uint32_t noise;
	char mark[16];
	if (getrandom(&noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
		return err_errno(e, "cannot name a temporary file");
	snprintf(mark, sizeof(mark), "%08x", noise);
	return name_temp(name, mark, temp, e);
}

int io_temp_name(int dir_fd, const char *name, char temp[IO_TEMP_BYTES], struct err *e)
{
	if (name_temp(name, "agent6", temp, e))
		return -1;
	if (!flock(dir_fd, LOCK_EX | LOCK_NB) && !tree_remove(dir_fd, temp, NULL))
		return 0;
	return name_random(name, temp, e);
}

int io_replace_shared(int dir_fd, const char *name, const void *bytes, size_t len, struct err *e)
{
	char temp[IO_TEMP_BYTES];
	struct buf view = {.data = (char *)(uintptr_t)bytes, .len = len};
	return name_random(name, temp, e) || io_replace_through(dir_fd, temp, name, &view, 0600, e)
		       ? -1
		       : 0;
}

int io_publish_file(const char *path, const void *bytes, size_t len, struct err *e)
{
	char dir[PATH_MAX], temp[IO_TEMP_BYTES];
	struct stat st;
	struct buf view = {.data = (char *)(uintptr_t)bytes, .len = len};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (!*name || !strcmp(path, "-") || strlen(path) >= sizeof(dir))
		return err_set(e, "'%.100s' names no file to write", path);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return err_set(e, "%s is there and is not a regular file", path);
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	AUTO_FD int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return err_errno(e, "cannot open %s", dir);
	return io_temp_name(at, name, temp, e) || io_replace_through(at, temp, name, &view, 0644, e)
		       ? -1
		       : 0;
}
