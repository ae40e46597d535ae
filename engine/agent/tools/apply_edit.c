#include "agent/tools/edit.h"
#include "agent/tools/list.h"
#include "agent/tools/lookup.h"

#include "agent/policy/redact.h"
#include "base/beneath.h"
#include "base/io.h"
#include "base/utf8.h"
#include "base/vcs.h"
#include "base/vcs_dir.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <strings.h>
#include <sys/random.h>

enum { FILE_CAP_BYTES = 8 * 1024 * 1024, EDITS_MAX = 64, TEMP_BYTES = 48 };

/* The target of an edit: a directory that was reached without a link, and a name in it. */
struct target {
	const char *path; /* as the model wrote it */
	int dir_fd;
	char name[NAME_MAX + 1];
};

static int say(struct buf *out, const char *path, const char *what)
{
	utf8_show(out, path);
	buf_addf(out, " %s", what);
	return -1;
}

static int cannot(struct buf *out, const char *path, int number)
{
	utf8_show(out, path);
	buf_addf(out, " cannot be edited: %s.", strerror(number));
	return -1;
}

/* Compares by identity, not by spelling: a protected directory stays protected under any name, also
 * on a file system that ignores case. */
static bool is_protected(const struct tool_context *context, const struct stat *st)
{
	for (size_t i = 0; i < context->protect_count; i++) {
		struct stat own;
		if (!lstat(context->protect[i], &own) && io_is_same(&own, st))
			return true;
	}
	return false;
}

/* Reports whether the path is protected, even if nothing exists there yet. */
static bool names_protected(const struct tool_context *context, const char *relative, size_t len)
{
	size_t root = strlen(context->workspace);
	for (size_t i = 0; i < context->protect_count; i++) {
		const char *p = context->protect[i];
		if (strncmp(p, context->workspace, root) || p[root] != '/')
			continue;
		if (strlen(p + root + 1) == len && !strncasecmp(p + root + 1, relative, len))
			return true;
	}
	return false;
}

/* Looks at `name`, which is or would be in `dir_fd`. Refuses an edit inside a git directory; one
 * that makes a git directory ends the state, since nobody does that by accident. */
static int check_git_dir(int dir_fd, const char *name, const char *path, struct buf *out)
{
	struct stat st;
	unsigned part = vcs_part(name);
	if (!part && fstatat(dir_fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	unsigned parts = vcs_dir_parts(dir_fd);
	if (vcs_is_git_dir(parts))
		return say(out, path, "lies in a git directory, and cannot be edited.");
	if (!vcs_is_git_dir(part | parts))
		return 0;
	say(out, path,
		"would complete a git directory (HEAD with objects and refs, or with commondir), "
		"in which git executes what its config names; make repositories in /tmp or "
		"$AGENT6_MACHINE_DATA_DIR.");
	return TOOL_ENDS;
}

/* Goes one component further down; makes it if `make` and it is missing. */
static int descend(
	const struct tool_context *context, struct target *at, const char *name, bool make)
{
	int flags = O_PATH | O_DIRECTORY;
	int fd = beneath_open(at->dir_fd, name, flags, 0, RESOLVE_NO_SYMLINKS);
	if (fd < 0 && errno == ENOENT && make && !mkdirat(at->dir_fd, name, 0777))
		fd = beneath_open(at->dir_fd, name, flags, 0, RESOLVE_NO_SYMLINKS);
	struct stat st;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || is_protected(context, &st)) {
		own_close(&fd);
		errno = EPERM;
		return -1;
	}
	own_close(&at->dir_fd);
	at->dir_fd = fd;
	return 0;
}

static int refuse_component(struct buf *out, const char *path, int number)
{
	if (number == ELOOP)
		return say(out, path, "leads through a link; edit what it points to.");
	if (number == EPERM)
		return say(out, path, "is protected and cannot be edited.");
	if (number == EXDEV)
		return say(out, path, "leads out of the workspace.");
	if (number == ENOENT)
		return say(out, path, "does not exist; the first edit of a new file is create.");
	if (number == ENOTDIR)
		return say(out, path, "cannot be there: a part of the path is not a directory.");
	return cannot(out, path, number);
}

/* Refuses a target that is not a regular file. */
static int check_kind(mode_t mode, const char *path, struct buf *out)
{
	if (S_ISLNK(mode))
		return refuse_component(out, path, ELOOP);
	if (S_ISREG(mode))
		return 0;
	utf8_show(out, path);
	buf_addf(out, " is %s, not a file.", lookup_kind(mode));
	return -1;
}

/* Turns "./a//b" into "a/b": protected names must have one spelling. */
static int tidy(const char *relative, char out[PATH_MAX])
{
	size_t n = 0;
	for (const char *at = relative; *at;) {
		size_t len = strcspn(at, "/");
		bool dot = len == 1 && *at == '.';
		if (n + len + 2 > PATH_MAX || len > NAME_MAX || (len == 2 && !strncmp(at, "..", 2)))
			return -1;
		if (len && !dot) {
			if (n)
				out[n++] = '/';
			memcpy(out + n, at, len);
			n += len;
		}
		at += len + strspn(at + len, "/");
	}
	out[n] = '\0';
	return n ? 0 : -1;
}

/* Walks to the directory of `path`, component by component, never through a link. */
static int find_target(const struct tool_context *context, const char *path, bool make,
	struct target *to, struct buf *out)
{
	char clean[PATH_MAX];
	const char *relative = lookup_relative(context, path, out);
	*to = (struct target){
		.path = path, .dir_fd = fcntl(context->workspace_fd, F_DUPFD_CLOEXEC, 0)};
	if (!relative)
		return -1;
	if (tidy(relative, clean) || path[strlen(path) - 1] == '/')
		return say(out, path, "must name a file, and be spelled without \"..\".");
	for (const char *at = clean; *at;) {
		size_t len = strcspn(at, "/");
		snprintf(to->name, sizeof(to->name), "%.*s", (int)len, at);
		if (vcs_in_path(to->name) ||
			names_protected(context, clean, (size_t)(at + len - clean)))
			return refuse_component(out, path, EPERM);
		int refused = check_git_dir(to->dir_fd, to->name, path, out);
		if (refused)
			return refused;
		if (at[len] && descend(context, to, to->name, make))
			return refuse_component(out, path, errno);
		at += len + (at[len] == '/');
	}
	return 0;
}

static int write_temp(int dir_fd, const char *temp, const struct buf *text, mode_t mode)
{
	AUTO_FD int fd =
		openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	return io_write(fd, text->data, text->len) || fchmod(fd, mode) || fsync(fd) ? -1 : 0;
}

/* Puts a new file in place. NFS and most of FUSE have no RENAME_NOREPLACE: there an empty file
 * takes the name first. */
static int put_new(int dir_fd, const char *temp, const char *name)
{
	if (!renameat2(dir_fd, temp, dir_fd, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -1;
	AUTO_FD int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	int failed = renameat(dir_fd, temp, dir_fd, name), saved = errno;
	if (failed)
		unlinkat(dir_fd, name, 0);
	errno = saved;
	return failed;
}

/* Replaces the file whole: writes a temporary file under a name that nobody can have planted, and
 * renames it. */
static int replace(const struct target *to, const struct buf *text, mode_t mode, bool create)
{
	uint64_t nonce = 0;
	char temp[TEMP_BYTES];
	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return -1;
	snprintf(temp, sizeof(temp), ".agent6-edit-%016llx", (unsigned long long)nonce);
	/* An O_PATH descriptor works for the *at calls, but not for fsync. */
	AUTO_FD int dir_fd = openat(to->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 || write_temp(dir_fd, temp, text, mode) ||
		(create ? put_new(dir_fd, temp, to->name)
			: renameat(dir_fd, temp, dir_fd, to->name))) {
		int saved = errno;
		unlinkat(to->dir_fd, temp, 0);
		errno = saved;
		return -1;
	}
	return fsync(dir_fd);
}

/* Reports whether the file is empty: create may replace it, and edits find nothing in it. */
static bool is_empty(const struct target *to, struct stat *st)
{
	return !fstatat(to->dir_fd, to->name, st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st->st_mode) &&
	       !st->st_size;
}

static int create_file(const struct tool_context *context, const struct target *to,
	const char *text, struct buf *out)
{
	const char *path = to->path;
	struct buf view = {.data = (char *)(uintptr_t)text, .len = strlen(text)};
	struct stat st;
	bool fills = is_empty(to, &st);
	if (fills && is_protected(context, &st))
		return refuse_component(out, path, EPERM);
	if (replace(to, &view, fills ? st.st_mode & 0777 : 0644, !fills)) {
		if (errno != EEXIST)
			return cannot(out, path, errno);
		if (!fstatat(to->dir_fd, to->name, &st, AT_SYMLINK_NOFOLLOW) &&
			check_kind(st.st_mode, path, out))
			return -1;
		return say(out, path,
			"exists already; change it with replace, where old_string is what now "
			"stands there.");
	}
	utf8_show(out, path);
	buf_addf(out, " was created (%zu bytes).\n", view.len);
	return 0;
}

static int read_text(const struct target *to, const char *path, struct stat *st, struct buf *text,
	struct buf *out)
{
	if (fstatat(to->dir_fd, to->name, st, AT_SYMLINK_NOFOLLOW))
		return refuse_component(out, path, errno);
	if (check_kind(st->st_mode, path, out))
		return -1;
	AUTO_FD int fd = openat(
		to->dir_fd, to->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct err e = ERR_NONE;
	struct stat now;
	if (fd < 0 || fstat(fd, &now) || !io_is_same(&now, st))
		return refuse_component(out, path, fd < 0 ? errno : ELOOP);
	if (io_read_all(fd, text, path, &e))
		return e.number ? cannot(out, path, e.number)
				: say(out, path, "is too long to be edited (8 MiB).");
	if (memchr(text->data, 0, text->len) || utf8_prefix(text->data, text->len) != text->len)
		return say(out, path, "is not UTF-8 text.");
	return 0;
}

static int replace_in_file(const struct tool_context *context, const struct target *to,
	const struct edit *edits, size_t count, struct buf *out)
{
	const char *path = to->path;
	AUTO_BUF text = BUF_INIT(FILE_CAP_BYTES), edited = BUF_INIT(FILE_CAP_BYTES);
	struct stat st;
	if (read_text(to, path, &st, &text, out))
		return -1;
	if (is_protected(context, &st))
		return refuse_component(out, path, EPERM);
	if (edit_apply(text.data, edits, count, &edited, out))
		return -1;
	if (replace(to, &edited, st.st_mode & 0777, false))
		return cannot(out, path, errno);
	utf8_show(out, path);
	buf_addf(out, " was changed by %zu edit%s.\n", count, count == 1 ? "" : "s");
	return 0;
}

static bool has_known_members(const json_t *edit)
{
	static const char *const known[] = {"kind", "old_string", "new_string"};
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		count += json_object_get(edit, known[i]) != NULL;
	return count == json_object_size(edit);
}

/* Reads the list that the model wrote. 1: one create; 0: replacements; -1: refused. */
static int read_edits(const json_t *list, struct edit edits[EDITS_MAX], struct buf *out)
{
	size_t count = json_array_size(list);
	bool creates = false;
	if (!count || count > EDITS_MAX) {
		buf_addf(out, "edits must hold 1 to %d edits.", EDITS_MAX);
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		const json_t *e = json_array_get(list, i);
		const char *kind = tool_text(e, "kind", "replace");
		edits[i] = (struct edit){
			tool_text(e, "old_string", NULL), tool_text(e, "new_string", NULL)};
		bool create = !strcmp(kind, "create");
		creates = creates || create;
		if ((!create && strcmp(kind, "replace")) || !edits[i].new_text ||
			(!create && !edits[i].old_text) || !has_known_members(e)) {
			buf_addf(out,
				"Edit %zu must be {kind: \"replace\", old_string, new_string} or "
				"{kind: \"create\", new_string}.",
				i + 1);
			return -1;
		}
	}
	if (creates && count > 1) {
		buf_adds(out, "create must be the only edit of its list.");
		return -1;
	}
	return creates;
}

static int apply_edit(const struct tool_context *context, const json_t *arguments, struct buf *out)
{
	const char *path = tool_path(arguments);
	const json_t *list = json_object_get(arguments, "edits");
	struct edit edits[EDITS_MAX];
	int create = read_edits(list, edits, out);
	if (create < 0)
		return -1;
	if (create && redact_is_marked(edits[0].new_text))
		return say(
			out, path, "was not created: the text holds a [REDACTED:...] placeholder.");
	struct target to;
	int rc = find_target(context, path, create, &to, out);
	if (!rc && create)
		rc = create_file(context, &to, edits[0].new_text, out);
	else if (!rc)
		rc = replace_in_file(context, &to, edits, json_array_size(list), out);
	own_close(&to.dir_fd);
	return rc;
}

const struct tool tool_apply_edit = {
	.name = "apply_edit",
	.description =
		"Changes one file, all edits or none. replace: old_string must occur exactly "
		"once in the file as it is now. create: makes a new file with new_string.",
	.modes = TOOL_IN_RUN,
	.args = {{"path", "the file, relative to the workspace", ARG_STR, true, NULL},
		{"edits", "a list of {kind, old_string, new_string}", ARG_LIST, true,
			"{\"type\":\"object\",\"properties\":{\"kind\":{\"type\":\"string\","
			"\"enum\":["
			"\"replace\",\"create\"]},\"old_string\":{\"type\":\"string\"},\"new_"
			"string\":{"
			"\"type\":\"string\"}},\"required\":[\"kind\",\"new_string\"],"
			"\"additionalProperties\":false}"}},
	.changes = true,
	.run = apply_edit,
};
