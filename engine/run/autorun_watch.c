#include "run/autorun_watch.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/vcs.h"
#include "run/autorun.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	ENTRIES_MAX = 1000000,
	NOTED_MAX = 20000,
	DEPTH_MAX = 128,
	LISTED_MAX = 200,
	NOTE_BYTES_MAX = 64 * 1024 * 1024
};

static const char note_name[] = "autorun.json", temp_name[] = "autorun.json.new";

/* --- looking ---------------------------------------------------------------------------------- */

struct walk {
	int top_fd;
	json_t *files; /* PATH: text that changes whenever the file does */
	char path[PATH_MAX];
	size_t depth, entries;
	bool cut;
};

/* Adds the target of a link, if it lies in the workspace: then a changed target makes the link
 * count as changed. A state cannot change a target elsewhere. */
static void add_target(int top_fd, const char *path, struct buf *is)
{
	struct stat st;
	AUTO_FD int fd = beneath_open(top_fd, path, O_PATH, 0, 0);
	if (fd >= 0 && !fstat(fd, &st))
		buf_addf(is, " %ju %lld.%09ld", (uintmax_t)st.st_ino, (long long)st.st_ctim.tv_sec,
			st.st_ctim.tv_nsec);
}

static void note_file(struct walk *walk, int dir_fd, const char *name)
{
	struct stat st;
	AUTO_BUF is = BUF_INIT(256), path = BUF_INIT(4 * PATH_MAX);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		walk->cut |= errno != ENOENT;
		return;
	}
	buf_addf(&is, "%ju %lld.%09ld", (uintmax_t)st.st_ino, (long long)st.st_ctim.tv_sec,
		st.st_ctim.tv_nsec);
	if (S_ISLNK(st.st_mode))
		add_target(walk->top_fd, walk->path, &is);
	utf8_add(&path, walk->path, strlen(walk->path));
	if (json_object_size(walk->files) >= NOTED_MAX)
		walk->cut = true;
	else
		json_object_set_new_nocheck(walk->files, path.data, json_string_nocheck(is.data));
}

static void look(struct walk *walk, int at_fd, const char *name, bool inside);

/* Visits one entry. `inside`: it lies in a directory all of whose files count. */
static void visit(struct walk *walk, int dir_fd, const struct dirent *entry, bool inside)
{
	const char *name = entry->d_name;
	struct stat st = {.st_mode = (mode_t)DTTOIF(entry->d_type)};
	size_t before = strlen(walk->path), room = sizeof(walk->path) - before;
	if (!strcmp(name, ".") || !strcmp(name, "..") || vcs_part(name) & VCS_NAME)
		return;
	if (entry->d_type == DT_UNKNOWN && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		walk->cut |= errno != ENOENT;
	bool directory = S_ISDIR(st.st_mode);
	bool counts = inside || autorun_name(name, directory);
	if (!directory && !counts)
		return;
	if ((size_t)snprintf(walk->path + before, room, "%s%s", before ? "/" : "", name) >= room)
		walk->cut = true;
	else if (directory)
		look(walk, dir_fd, name, counts);
	else
		note_file(walk, dir_fd, name);
	walk->path[before] = '\0';
}

static void look(struct walk *walk, int at_fd, const char *name, bool inside)
{
	int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		walk->cut |= errno != ENOENT && errno != ENOTDIR;
		own_close(&fd);
		return;
	}
	walk->depth++;
	errno = 0;
	for (const struct dirent *entry; walk->depth <= DEPTH_MAX && walk->entries <= ENTRIES_MAX &&
					 (entry = readdir(dir));) {
		walk->entries++;
		visit(walk, fd, entry, inside);
		errno = 0;
	}
	walk->cut |= errno || walk->depth > DEPTH_MAX || walk->entries > ENTRIES_MAX;
	walk->depth--;
	closedir(dir);
}

/* Returns {"files": {PATH: IS}, "cut"}; NULL: the workspace cannot be opened. */
static json_t *look_all(const char *workspace)
{
	AUTO_FD int fd = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct walk walk = {.top_fd = fd, .files = json_object()};
	if (fd >= 0)
		look(&walk, fd, ".", false);
	return json_pack("{s:o,s:b}", "files", walk.files, "cut", walk.cut || fd < 0);
}

/* --- the note --------------------------------------------------------------------------------- */

/* Writes the note without syncing it: a crash of the host may lose it, and then nothing is
 * compared. */
int autorun_note(int instance_fd, const char *workspace, struct err *e)
{
	if (!faccessat(instance_fd, note_name, F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	json_auto_t *seen = look_all(workspace);
	AUTO_FREE char *text = json_text(seen);
	if (!text)
		return err_set(e, "out of memory");
	unlinkat(instance_fd, temp_name, 0);
	if (io_create_file(instance_fd, temp_name, text, strlen(text), 0600, e))
		return -1;
	return renameat(instance_fd, temp_name, instance_fd, note_name)
		       ? err_errno(e, "cannot keep %s", note_name)
		       : 0;
}

static json_t *read_note(int instance_fd)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	if (io_read_plain(instance_fd, note_name, NOTE_BYTES_MAX, &text, &len, NULL))
		return NULL;
	return json_read(text, len, NOTE_BYTES_MAX, NULL);
}

void autorun_forget(int instance_fd)
{
	unlinkat(instance_fd, note_name, 0);
}

/* --- comparing -------------------------------------------------------------------------------- */

struct change {
	const char *path, *how;
	const struct autorun *row;
	size_t depth;
};

static struct change change_of(const char *path, const char *how)
{
	static const struct autorun unknown = {"", "", AUTORUN_WHEN_COUNT};
	const struct autorun *row = autorun_path(path);
	struct change change = {.path = path, .how = how, .row = row ? row : &unknown};
	for (const char *at = path; (at = strchr(at, '/')); at++)
		change.depth++;
	return change;
}

/* Orders by when a file takes effect, then by depth: thousands of deep files cannot push an
 * important one off the list. */
static int by_weight(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (x->row->when != y->row->when)
		return (int)x->row->when - (int)y->row->when;
	return x->depth != y->depth ? (x->depth > y->depth) - (x->depth < y->depth)
				    : strcmp(x->path, y->path);
}

/* Encodes `changes`, {PATH: HOW}, for the journal. NULL: there is nothing to tell. */
static json_t *encode(json_t *changes, bool cut)
{
	size_t count = json_object_size(changes), filled = 0;
	size_t listed = count < LISTED_MAX ? count : LISTED_MAX;
	struct change *sorted = calloc(count + 1, sizeof(*sorted));
	const char *path;
	json_t *how, *files = json_array();
	json_object_foreach (changes, path, how)
		if (sorted)
			sorted[filled++] = change_of(path, json_string_value(how));
	if (sorted)
		qsort(sorted, filled, sizeof(*sorted), by_weight);
	for (size_t i = 0; sorted && i < listed; i++)
		json_array_append_new(
			files, json_pack("{s:s,s:s,s:s,s:s}", "path", sorted[i].path, "change",
				       sorted[i].how, "who", sorted[i].row->who, "when",
				       autorun_when_word(sorted[i].row->when)));
	free(sorted);
	json_auto_t *told = json_pack("{s:o,s:I,s:b}", "files", files, "more",
		(json_int_t)(count - json_array_size(files)), "cut", cut);
	return count || cut ? json_incref(told) : NULL;
}

json_t *autorun_changed(int instance_fd, const char *workspace)
{
	if (faccessat(instance_fd, note_name, F_OK, AT_SYMLINK_NOFOLLOW))
		return NULL;
	json_auto_t *before = read_note(instance_fd), *now = look_all(workspace);
	json_auto_t *changes = json_object();
	json_t *was = json_object_get(before, "files"), *is = json_object_get(now, "files"), *value;
	const char *path;
	json_object_foreach (was ? is : NULL, path, value) {
		const json_t *old = json_object_get(was, path);
		if (!json_equal(old, value))
			json_object_set_new(changes, path, json_string(old ? "changed" : "made"));
	}
	json_object_foreach (was, path, value)
		if (!json_object_get(is, path))
			json_object_set_new(changes, path, json_string("removed"));
	return encode(changes, !was || json_is_true(json_object_get(before, "cut")) ||
				       json_is_true(json_object_get(now, "cut")));
}

json_t *autorun_of_commits(const struct buf *list)
{
	json_auto_t *changes = json_object();
	for (size_t at = 0; at < list->len;) {
		const char *letter = list->data + at, *path = letter + strlen(letter) + 1;
		AUTO_BUF text = BUF_INIT(4 * PATH_MAX);
		if (path >= list->data + list->len)
			break;
		at = (size_t)(path - list->data) + strlen(path) + 1;
		if (!autorun_path(path))
			continue;
		utf8_add(&text, path, strlen(path));
		json_object_set_new_nocheck(changes, text.data,
			json_string(*letter == 'A'   ? "made"
				    : *letter == 'D' ? "removed"
						     : "changed"));
	}
	return encode(changes, false);
}
