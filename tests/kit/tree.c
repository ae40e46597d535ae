#include "tests/kit/tree.h"

#include "base/io.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

const char *tree_path(const char *dir, const char *path)
{
	static char texts[16][2 * PATH_MAX];
	static unsigned turn;
	char *text = texts[turn++ % 16];
	snprintf(text, sizeof(texts[0]), "%s/%s", dir, path);
	return text;
}

static void make_parents(const char *dir, const char *path)
{
	char full[2 * PATH_MAX];
	snprintf(full, sizeof(full), "%s", tree_path(dir, path));
	for (char *slash = full + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(full, 0755) && errno != EEXIST)
			bail("cannot create %s", full);
	}
}

void tree_file(const char *dir, const char *path, const char *text, mode_t mode)
{
	make_parents(dir, path);
	AUTO_FD int fd = open(tree_path(dir, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, text, strlen(text)) || fchmod(fd, mode))
		bail("cannot write %s/%s", dir, path);
}

void tree_dir(const char *dir, const char *path)
{
	make_parents(dir, path);
	if (mkdir(tree_path(dir, path), 0755))
		bail("cannot create %s/%s", dir, path);
}

void tree_link(const char *dir, const char *path, const char *target)
{
	make_parents(dir, path);
	if (symlink(target, tree_path(dir, path)))
		bail("cannot link %s/%s", dir, path);
}
