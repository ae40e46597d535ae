#include "bundle/bundle_private.h"

#include "base/beneath.h"
#include "base/io.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

/* A directory on the way down, so that a link back up is recognised as a loop. */
struct level {
	const struct level *above;
	const struct stat *at;
};

static void walk_entry(struct intake *in, const char *path, const struct level *above);

static const char *special_kind(mode_t mode)
{
	return S_ISFIFO(mode)   ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
	       : S_ISBLK(mode)  ? "a block device"
	       : S_ISCHR(mode)  ? "a character device"
				: "not a file or directory";
}

static bool hash_file(int fd, struct member *member)
{
	struct sha256 s;
	char chunk[65536];
	size_t total = 0;
	sha256_init(&s);
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || total > member->size)
			return false;
		if (!n)
			break;
		sha256_add(&s, chunk, (size_t)n);
		/* A machine file is read next in any case, so keep the bytes that are hashed. */
		if (member->bytes && total + (size_t)n <= member->size)
			memcpy(member->bytes + total, chunk, (size_t)n);
		total += (size_t)n;
	}
	sha256_end_hex(&s, member->sha256);
	return total == member->size;
}

/* Takes a file. `member`: its path in the bundle, which for a loose machine file is not its
 * place. */
static void take_file(
	struct intake *in, int fd, const struct stat *st, const char *member, const char *path)
{
	struct member m = {.path = member,
		.source = path,
		.mode = st->st_mode & S_IXUSR ? 0755 : 0644,
		.size = (size_t)st->st_size};
	if (st->st_nlink > 1) {
		intake_refuse(in, RULE_BUNDLE_FILE, path,
			"the file has %ju names (hard links): another name could change it",
			(uintmax_t)st->st_nlink);
		return;
	}
	if (!intake_limits(in, path, (uint64_t)st->st_size))
		return;
	if (member_path_is_machine(member))
		m.bytes = calloc(1, m.size + 1);
	if (hash_file(fd, &m)) {
		intake_add(in, &m);
		return;
	}
	free(m.bytes);
	intake_refuse(in, RULE_BUNDLE_FILE, path, "the file cannot be read, or changed meanwhile");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_folder(const char *name)
{
	for (size_t i = 0; i < BUNDLE_FOLDERS; i++)
		if (!strcmp(name, bundle_folders[i]))
			return true;
	return false;
}

/* Reports whether a bundle can have this at its top; other names belong to the repository. */
static bool is_top_name(const char *name)
{
	return is_folder(name) || member_path_allowed(name);
}

/* Lists the names in a directory, sorted, so that findings and limits do not depend on the file
 * system. */
static int list_names(
	struct intake *in, int dir_fd, const char *path, struct arena *arena, char ***out)
{
	enum { ENTRIES_MAX = 4 * BUNDLE_MEMBERS_MAX };
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int count = 0;
	if (!dir) {
		own_close(&fd);
		intake_refuse(in, RULE_BUNDLE_FILE, path, "the directory cannot be read");
		return 0;
	}
	char **names = arena_array(arena, ENTRIES_MAX, sizeof(*names));
	struct dirent *d;
	while ((d = readdir(dir)) && count < ENTRIES_MAX)
		if (*path ? strcmp(d->d_name, ".") && strcmp(d->d_name, "..")
			  : is_top_name(d->d_name))
			names[count++] = arena_copy(arena, d->d_name, strlen(d->d_name));
	closedir(dir);
	if (d) {
		intake_refuse(in, RULE_BUNDLE_LIMIT, path,
			"the directory has more entries than a bundle may have members");
		in->full = true;
	}
	qsort(names, (size_t)count, sizeof(*names), by_name);
	*out = names;
	return count;
}

static void walk_directory(struct intake *in, int fd, const char *path, const struct level *above)
{
	struct stat st;
	if (fstat(fd, &st))
		return;
	for (const struct level *l = above; l; l = l->above)
		if (io_is_same(l->at, &st)) {
			intake_refuse(in, RULE_BUNDLE_LINK, path,
				"the link leads back to a directory above it");
			return;
		}
	struct level here = {above, &st};
	struct arena scratch;
	arena_init(&scratch);
	char **names = NULL;
	int count = list_names(in, fd, path, &scratch, &names);
	for (int i = 0; i < count && !in->full; i++) {
		char child[2 * PATH_MAX];
		if (snprintf(child, sizeof(child), "%s/%s", path, names[i]) < PATH_MAX)
			walk_entry(in, child, &here);
		else
			intake_refuse(in, RULE_BUNDLE_LIMIT, path, "the path is too long");
	}
	arena_done(&scratch);
}

/* Reports whether a link stays inside the member folders; its target is then a member like
 * others. */
static bool link_stays(struct intake *in, const char *path)
{
	char real[PATH_MAX];
	AUTO_FD int fd = beneath_open(in->bundle->root_fd, path, O_PATH, 0, 0);
	const char *place = fd < 0 ? NULL : beneath_relative(in->bundle->root_fd, fd, real);
	if (fd < 0 && errno == ENOENT)
		intake_refuse(in, RULE_BUNDLE_LINK, path, "the symbolic link leads nowhere");
	else if (fd < 0 && errno == ELOOP)
		intake_refuse(in, RULE_BUNDLE_LINK, path, "the symbolic links loop");
	else if (!place || (!member_path_allowed(place) && !is_folder(place)))
		intake_refuse(in, RULE_BUNDLE_LINK, path,
			"the symbolic link leaves the bundle: links stay inside the member folders "
			"and are relative");
	else
		return true;
	return false;
}

static void walk_opened(struct intake *in, int fd, const char *path, const struct level *above)
{
	struct stat st;
	if (fstat(fd, &st))
		intake_refuse(in, RULE_BUNDLE_FILE, path, "the entry cannot be examined");
	else if (st.st_mode & (S_ISUID | S_ISGID | S_ISVTX))
		intake_refuse(in, RULE_BUNDLE_FILE, path,
			"the setuid, setgid or sticky bit is set: `chmod u-s,g-s,-t` clears it");
	else if (S_ISDIR(st.st_mode) && member_path_is_machine(path))
		intake_refuse(in, RULE_BUNDLE_FILE, path, "this is a directory, not a file");
	else if (S_ISDIR(st.st_mode))
		walk_directory(in, fd, path, above);
	else if (S_ISREG(st.st_mode) && is_folder(path))
		intake_refuse(in, RULE_BUNDLE_LINK, path,
			"the symbolic link leads to a file, and %s/ is a folder", path);
	else if (S_ISREG(st.st_mode))
		take_file(in, fd, &st, path, path);
	else
		intake_refuse(in, RULE_BUNDLE_FILE, path, "this is %s, not a file",
			special_kind(st.st_mode));
}

/* Visits an entry. Opens it with O_PATH first: opening a FIFO or a device has effects. */
static void walk_entry(struct intake *in, const char *path, const struct level *above)
{
	int root = in->bundle->root_fd;
	struct stat st;
	if (!intake_path(in, path))
		return;
	AUTO_FD int seen = beneath_open(root, path, O_PATH | O_NOFOLLOW, 0, 0);
	bool link = seen >= 0 && !fstat(seen, &st) && S_ISLNK(st.st_mode);
	if (link && !link_stays(in, path))
		return;
	if (link) {
		own_close(&seen);
		seen = beneath_open(root, path, O_PATH, 0, 0);
	}
	if (seen < 0 || fstat(seen, &st)) {
		intake_refuse(in, RULE_BUNDLE_FILE, path, "the entry cannot be examined: %s",
			strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		walk_opened(in, seen, path, above);
		return;
	}
	AUTO_FD int fd = beneath_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, 0);
	if (fd < 0)
		intake_refuse(in, RULE_BUNDLE_FILE, path, "cannot be opened: %s", strerror(errno));
	else
		walk_opened(in, fd, path, above);
}

/* Reports whether a name is a folder, or a README or LICENSE file; beside a loose machine file such
 * a file is the repository's own. */
static bool is_ours(const struct bundle *bundle, const char *name)
{
	struct stat st;
	if (fstatat(bundle->root_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if (is_folder(name))
		return S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode);
	return !member_path_is_machine(name) && !S_ISDIR(st.st_mode);
}

static void take_loose(struct intake *in, const char *loose)
{
	char member[32];
	struct stat st;
	snprintf(member, sizeof(member), "machine.%.8s", strrchr(loose, '.') + 1);
	AUTO_FD int fd = beneath_open(in->bundle->root_fd, loose, O_RDONLY | O_NONBLOCK | O_NOCTTY,
		0, RESOLVE_NO_SYMLINKS);
	if (fd < 0 && errno == ELOOP)
		intake_refuse(in, RULE_BUNDLE_LINK, loose,
			"the machine file is a symbolic link; name the file it leads to");
	else if (fd < 0)
		intake_refuse(in, RULE_BUNDLE_FILE, loose, "cannot be opened: %s", strerror(errno));
	else if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		take_file(in, fd, &st, member, loose);
	else
		intake_refuse(in, RULE_BUNDLE_FILE, loose, "this is not a regular file");
}

int bundle_walk(struct intake *in, const char *loose, struct err *e)
{
	struct bundle *b = in->bundle;
	struct arena scratch;
	struct stat st;
	if (fstat(b->root_fd, &st))
		return err_errno(e, "cannot examine %s", b->named);
	struct level root = {NULL, &st};
	char **names = NULL;
	arena_init(&scratch);
	int count = list_names(in, b->root_fd, "", &scratch, &names);
	for (int i = 0; i < count && !in->full; i++)
		if (is_ours(b, names[i]) || (!loose && member_path_is_machine(names[i])))
			walk_entry(in, names[i], &root);
	size_t before = b->count;
	if (loose)
		take_loose(in, loose);
	in->machine_refused |= loose && b->count == before;
	arena_done(&scratch);
	return 0;
}
