/*
 * Finds the sockets and named pipes that lie in a granted tree.
 *
 * Attack: a service's socket inside the workspace. A named socket crosses network namespaces,
 * read-only mounts and (below ABI 9) Landlock: connecting to it leaves the jail.
 */
#include "jail/layout.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { ENTRIES_MAX = 200000, FOUND_MAX = 1024, DEPTH_MAX = 128, BLOCK_BYTES = 8192 };

struct walk {
	struct layout *layout;
	char path[PATH_MAX];
	size_t depth, entries, found;
	bool cut;
};

static void walk(struct walk *w, int at_fd, const char *name);

static void visit(struct walk *w, int dir_fd, const struct dirent *entry)
{
	static const struct place cover = {.kind = PLACE_MASK};
	size_t before = strlen(w->path), room = sizeof(w->path) - before;
	struct stat st = {.st_mode = (mode_t)DTTOIF(entry->d_type)};
	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return;
	if (entry->d_type == DT_UNKNOWN && fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
		w->cut |= errno != ENOENT;
	bool service = S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode);
	if (!service && !S_ISDIR(st.st_mode))
		return;
	if ((size_t)snprintf(w->path + before, room, "/%s", entry->d_name) >= room)
		w->cut = true;
	else if (!service)
		walk(w, dir_fd, entry->d_name);
	else
		w->cut |= ++w->found > FOUND_MAX || layout_add(w->layout, w->path, cover, NULL);
	w->path[before] = '\0';
}

/* As the kernel tells it: a C library's stream would ask two things more of every directory. */
static void walk(struct walk *w, int at_fd, const char *name)
{
	_Alignas(struct dirent) char block[BLOCK_BYTES];
	AUTO_FD int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t len = 0;
	/* A granted file is looked at where it is mounted; what is missing fails there. */
	w->cut |= fd < 0 && errno != ENOTDIR && errno != ENOENT;
	w->cut |= ++w->depth > DEPTH_MAX;
	while (fd >= 0 && !w->cut && (len = syscall(SYS_getdents64, fd, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < len && !w->cut;) {
			const struct dirent *entry = (const void *)(block + at);
			at += entry->d_reclen;
			w->cut = ++w->entries > ENTRIES_MAX;
			visit(w, fd, entry);
		}
	w->cut |= len < 0;
	w->depth--;
}

void scan_tree(struct layout *l, const char *path)
{
	struct walk w = {.layout = l, .cut = l->scan_cut};
	snprintf(w.path, sizeof(w.path), "%s", path);
	walk(&w, AT_FDCWD, path);
	l->scan_cut = w.cut;
}
