/*
 * Searches the granted trees for sockets, named pipes and repositories.
 *
 * Attack: a service's socket inside the workspace. A named socket crosses network namespaces,
 * read-only mounts and (below ABI 9) Landlock: connecting to it leaves the jail. And a repository
 * there: git executes its settings on the host, as soon as somebody enters it. A place that cannot
 * be searched could hold either, so no command begins then.
 */
#include "base/vcs.h"
#include "jail/layout.h"
#include "jail/leave_out.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES_MAX = 2000000, FOUND_MAX = 1024, DEPTH_MAX = 128, BLOCK_BYTES = 8192 };

struct walk {
	struct layout *layout;
	const struct policy *policy;
	int scan;
	char path[PATH_MAX];
	size_t depth, entries, found;
	bool held; /* inside a repository, which is held as a whole */
	bool full; /* searching further is useless */
	struct err *why;
	int failed;
};

static void cut(struct walk *walk, const char *why)
{
	walk->failed = err_set(walk->why,
		"%s cannot be searched for sockets, pipes and repositories: %s; remove it, or "
		"let it be read",
		walk->path, why);
}

static void fill_up(struct walk *walk, const char *why)
{
	cut(walk, why);
	walk->full = true;
}

/* A name that may not be looked up counts as there: whoever owns the directory can open it. */
int scan_is_git_dir(int dir_fd)
{
	static const char *const names[] = {"HEAD", "objects", "refs", "commondir"};
	unsigned parts = 0;
	struct stat st;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!fstatat(dir_fd, names[i], &st, AT_SYMLINK_NOFOLLOW) || errno == EACCES)
			parts |= vcs_part(names[i]);
		else if (errno != ENOENT)
			return -1;
	return vcs_is_git_dir(parts);
}

/* Adds a place at walk->path. */
static void add_place(struct walk *walk, const struct place *place, const char *too_many)
{
	struct err why = ERR_NONE;
	if (layout_add(walk->layout, walk->path, *place, &why))
		fill_up(walk, why.number ? strerror(why.number) : too_many);
}

/* Holds the repository at walk->path, unless a grant names it: then the operator has granted it. */
static void hold(struct walk *walk)
{
	const struct place *above = layout_deepest(walk->layout, walk->path);
	const struct place place = {.kind = PLACE_READ, .grant = true, .repository = true};
	if (!(walk->scan & SCAN_REPOSITORIES) || walk->held || !above ||
		above->kind != PLACE_WRITE || policy_frees(walk->policy, walk->path))
		return;
	if (!strcmp(above->path, walk->path) && strcmp(walk->path, walk->policy->workspace) != 0)
		return;
	add_place(walk, &place, "there are too many repositories");
}

static void walk(struct walk *walk, int at_fd, const char *name);

static void mask(struct walk *walk)
{
	static const struct place cover = {.kind = PLACE_MASK};
	static const char too_many[] = "there are too many sockets and pipes";
	if (!(walk->scan & SCAN_SERVICES) || !LAYER_ON("mask"))
		return;
	if (++walk->found > FOUND_MAX)
		fill_up(walk, too_many);
	else
		add_place(walk, &cover, too_many);
}

static mode_t type_of(struct walk *walk, int dir_fd, const struct dirent *entry)
{
	struct stat st = {.st_mode = (mode_t)DTTOIF(entry->d_type)};
	if (entry->d_type == DT_UNKNOWN &&
		fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && errno != ENOENT)
		cut(walk, strerror(errno));
	return st.st_mode;
}

static void visit(struct walk *w, int dir_fd, const struct dirent *entry, unsigned part)
{
	size_t before = strlen(w->path), room = sizeof(w->path) - before;
	bool held = w->held;
	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return;
	mode_t mode = type_of(w, dir_fd, entry);
	bool service = S_ISSOCK(mode) || S_ISFIFO(mode);
	if (!service && !S_ISDIR(mode) && !(part & VCS_NAME))
		return;
	if ((size_t)snprintf(w->path + before, room, "/%s", entry->d_name) >= room) {
		w->path[before] = '\0';
		cut(w, "a path in it is too long");
		return;
	}
	if (part & VCS_NAME)
		hold(w);
	w->held |= part & VCS_NAME;
	if (service)
		mask(w);
	else if (S_ISDIR(mode))
		walk(w, dir_fd, entry->d_name);
	w->held = held;
	w->path[before] = '\0';
}

/* Reports whether a directory is sealed: a process that may not enter it, and cannot change that,
 * reaches nothing in it. */
static bool is_sealed(int at_fd, const char *name)
{
	struct stat st;
	return geteuid() && !fstatat(at_fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_uid != geteuid() && faccessat(at_fd, name, X_OK, AT_EACCESS);
}

/* Opens a directory. Returns -1 if there is nothing to look at. A granted file is checked where it
 * is mounted; a missing one fails there. */
static int open_level(struct walk *walk, int at_fd, const char *name)
{
	int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int why = errno;
	if (fd < 0 && why != ENOTDIR && why != ENOENT && !(why == EACCES && is_sealed(at_fd, name)))
		cut(walk, strerror(why));
	return fd;
}

/* Walks a directory by the kernel's own calls: a C library's stream would make two more for
 * each. */
static void walk(struct walk *walk, int at_fd, const char *name)
{
	_Alignas(struct dirent) char block[BLOCK_BYTES];
	unsigned parts = 0;
	AUTO_FD int fd = open_level(walk, at_fd, name);
	ssize_t len = 0;
	if (fd < 0)
		return;
	if (++walk->depth > DEPTH_MAX)
		cut(walk, "it lies too deep");
	while (walk->depth <= DEPTH_MAX && !walk->full &&
		(len = syscall(SYS_getdents64, fd, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < len && !walk->full;) {
			const struct dirent *entry = (const void *)(block + at);
			unsigned part = vcs_part(entry->d_name);
			at += entry->d_reclen;
			parts |= part;
			if (++walk->entries > ENTRIES_MAX)
				fill_up(walk, "there are too many files");
			visit(walk, fd, entry, part);
		}
	if (len < 0 && errno != ENOENT) /* it was removed meanwhile */
		cut(walk, strerror(errno));
	int is_git_dir = vcs_is_git_dir(parts) ? scan_is_git_dir(fd) : 0;
	if (is_git_dir < 0)
		cut(walk, strerror(errno));
	else if (is_git_dir)
		hold(walk);
	walk->depth--;
}

int scan_tree(struct layout *layout, const struct policy *policy, int scan, const char *path,
	struct err *e)
{
	struct err unheard = ERR_NONE;
	struct walk w = {.layout = layout, .policy = policy, .scan = scan, .why = e ? e : &unheard};
	snprintf(w.path, sizeof(w.path), "%s", path);
	walk(&w, AT_FDCWD, path);
	return w.failed;
}
