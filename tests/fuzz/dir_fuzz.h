/* A directory of a fuzz target's own, for what is read from files; gone when the target ends. */
#ifndef TESTS_FUZZ_DIR_FUZZ_H
#define TESTS_FUZZ_DIR_FUZZ_H
#include "base/io.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char fuzz_dir[4096];

static int fuzz_dir_drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

static inline void fuzz_dir_clear(void)
{
	nftw(fuzz_dir, fuzz_dir_drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void fuzz_dir_end(void)
{
	fuzz_dir_clear();
	rmdir(fuzz_dir);
}

/* Its path; empty at first, later as the target left it. */
static inline const char *fuzz_dir_path(void)
{
	const char *above = getenv("TMPDIR");
	if (*fuzz_dir)
		return fuzz_dir;
	snprintf(fuzz_dir, sizeof(fuzz_dir), "%s/fuzz-XXXXXX", above ? above : "/tmp");
	if (!mkdtemp(fuzz_dir) || atexit(fuzz_dir_end))
		abort();
	return fuzz_dir;
}

static inline void fuzz_dir_put(const char *name, const void *bytes, size_t len)
{
	AUTO_FD int dir = open(fuzz_dir_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, bytes, len))
		abort();
}
#endif
