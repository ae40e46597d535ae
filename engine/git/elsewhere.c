#include "git/elsewhere.h"

#include "base/io.h"
#include "base/path.h"
#include "base/vcs.h"
#include "git/git.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { ALTERNATES_BYTES_MAX = 64 * 1024, BORROWED_DEPTH_MAX = 5 };

struct borrowed_search {
	const char *work_tree;
	struct arena *arena;
	struct git_elsewhere *out;
};

/* Adds the path. Returns false if it is visible already. */
static bool add(struct borrowed_search *search, const char *path)
{
	struct git_elsewhere *out = search->out;
	if (path_is_within(path, search->work_tree) || out->count == GIT_ELSEWHERE_MAX)
		return false;
	for (size_t i = 0; i < out->count; i++)
		if (path_is_within(path, out->paths[i]))
			return false;
	out->paths[out->count++] = arena_copy(search->arena, path, strlen(path));
	return true;
}

static bool has(int dir_fd, const char *name)
{
	return !faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool is_git_dir(const char *path)
{
	static const char *const names[] = {"HEAD", "objects", "refs", "commondir"};
	AUTO_FD int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	unsigned parts = 0;
	for (size_t i = 0; fd >= 0 && i < ARRAY_LEN(names); i++)
		parts |= has(fd, names[i]) ? vcs_part(names[i]) : 0;
	return vcs_is_git_dir(parts);
}

/* Reports whether the path is a git directory's "objects": no line may name anything else. */
static bool is_objects(const char *path)
{
	char above[PATH_MAX];
	const char *slash = strrchr(path, '/');
	snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
	return !strcmp(slash, "/objects") && is_git_dir(above);
}

static void add_borrowed(struct borrowed_search *search, const char *objects, int depth)
{
	char at[2 * PATH_MAX], real[PATH_MAX];
	AUTO_FREE char *text = NULL;
	size_t len;
	AUTO_FD int fd = open(objects, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD int info =
		fd < 0 ? -1 : openat(fd, "info", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (info < 0 || !has(info, "alternates") ||
		io_read_plain(info, "alternates", ALTERNATES_BYTES_MAX, &text, &len, NULL))
		return;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (!*line || *line == '#')
			continue;
		snprintf(at, sizeof(at), "%s%s%s", *line == '/' ? "" : objects,
			*line == '/' ? "" : "/", line);
		if (realpath(at, real) && is_objects(real) && add(search, real) && depth)
			add_borrowed(search, real, depth - 1);
	}
}

void git_elsewhere_find(const char *work_tree, struct arena *arena, struct git_elsewhere *out)
{
	struct git_repo repo = {0};
	struct borrowed_search search = {work_tree, arena, out};
	char objects[PATH_MAX];
	*out = (struct git_elsewhere){.count = 0};
	if (git_find(work_tree, &repo, NULL) || !repo.git_dir)
		return;
	if (strcmp(repo.work_tree, work_tree) != 0) {
		out->around = arena_copy(arena, repo.work_tree, strlen(repo.work_tree));
	} else if (is_git_dir(repo.git_dir) && is_git_dir(repo.common_dir)) {
		add(&search, repo.common_dir);
		add(&search, repo.git_dir);
		if (snprintf(objects, sizeof(objects), "%s/objects", repo.common_dir) < PATH_MAX)
			add_borrowed(&search, objects, BORROWED_DEPTH_MAX);
	}
	git_repo_done(&repo);
}
