#include "instance/data_repositories.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/vcs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Bounds of the search, since a command may have filled the directory and a status must not wait
 * for all of it. */
enum { ENTRIES_MAX = 100000, DEPTH_MAX = 32, LISTED_MAX = 20 };

struct data_search {
	char path[PATH_MAX];
	json_t *paths;
	int depth, entries;
	bool cut;
};

static void note(struct data_search *search)
{
	char shown[PATH_MAX];
	utf8_copy(shown, sizeof(shown), search->path);
	if (json_array_size(search->paths) == LISTED_MAX)
		search->cut = true;
	else
		json_array_append_new(search->paths, json_string(shown));
}

/* Reads the directory's entries, each of which counts against the bound of the search. */
static bool is_repository(struct data_search *search, DIR *dir)
{
	unsigned parts = 0;
	const struct dirent *entry = NULL;
	while (search->entries < ENTRIES_MAX && (entry = readdir(dir))) {
		parts |= vcs_part(entry->d_name);
		search->entries++;
	}
	search->cut |= entry != NULL;
	return parts & VCS_NAME || vcs_is_git_dir(parts);
}

static bool is_directory(int dir_fd, const struct dirent *entry)
{
	struct stat st;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

static void look_at(struct data_search *search, int dir_fd, const char *name);

/* Looks for repositories below a directory. Names each one once, and does not search inside it. */
static void look_below(struct data_search *search, DIR *dir)
{
	size_t before = strlen(search->path), room = sizeof(search->path) - before;
	if (is_repository(search, dir)) {
		note(search);
		return;
	}
	rewinddir(dir);
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!is_directory(dirfd(dir), entry))
			continue;
		if ((size_t)snprintf(search->path + before, room, "/%s", entry->d_name) >= room)
			search->cut = true;
		else
			look_at(search, dirfd(dir), entry->d_name);
		search->path[before] = '\0';
	}
}

static void look_at(struct data_search *search, int dir_fd, const char *name)
{
	int fd = search->depth == DEPTH_MAX || search->entries == ENTRIES_MAX
			 ? -1
			 : openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		search->cut = true;
		own_close(&fd);
		return;
	}
	search->depth++;
	look_below(search, dir);
	search->depth--;
	closedir(dir);
}

json_t *data_repositories(const struct instance *instance)
{
	struct data_search search = {.paths = json_array()};
	struct stat st;
	bool there = !fstatat(instance->dir_fd, "data", &st, AT_SYMLINK_NOFOLLOW);
	int len = snprintf(search.path, sizeof(search.path), "%s/data", instance->path);
	if (there && len < PATH_MAX)
		look_at(&search, instance->dir_fd, "data");
	json_t *found = search.cut || json_array_size(search.paths)
				? json_pack("{s:O, s:b}", "paths", search.paths, "cut", search.cut)
				: NULL;
	json_decref(search.paths);
	return found;
}
