#include "agent/tools/lookup.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

enum { NAMES_MAX = 1000 };

const char *lookup_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG: return "a file";
	case S_IFDIR: return "a directory";
	case S_IFLNK: return "a link";
	case S_IFIFO: return "a named pipe";
	case S_IFSOCK: return "a socket";
	default: return "a device";
	}
}

const char *lookup_relative(const struct tool_context *context, const char *path, struct buf *out)
{
	const char *rest = path;
	if (*path == '/') {
		if (!path_is_within(path, context->workspace)) {
			utf8_show(out, path);
			buf_adds(out, " is outside the workspace ");
			utf8_show(out, context->workspace);
			buf_adds(out, "; nothing outside it can be reached.");
			return NULL;
		}
		rest = path + strlen(context->workspace);
		while (*rest == '/')
			rest++;
	}
	return *rest ? rest : ".";
}

static int refuse(struct buf *out, const char *path, int number)
{
	utf8_show(out, path);
	if (number == EXDEV)
		buf_adds(out, " leads out of the workspace; nothing outside it can be reached.");
	else if (number == ENOENT)
		buf_adds(out, " does not exist.");
	else if (number == ENOTDIR)
		buf_adds(out, " does not exist: a part of the path is not a directory.");
	else
		buf_addf(out, " cannot be opened: %s.", strerror(number));
	return -1;
}

bool lookup_is_hidden(const struct tool_context *context, const struct stat *st)
{
	for (size_t i = 0; i < context->hide_count; i++) {
		struct stat own;
		if (lstat(context->hide[i], &own))
			continue;
		if (io_is_same(&own, st) ||
			(S_ISLNK(own.st_mode) && !stat(context->hide[i], &own) &&
				io_is_same(&own, st)))
			return true;
	}
	return false;
}

/* Reports whether the opened file lies in a hidden place, however its path was spelled. If the
 * place cannot be told, it counts as hidden. */
static bool lies_hidden(const struct tool_context *context, int fd)
{
	char at[PATH_MAX], hidden[PATH_MAX];
	if (!context->hide_count)
		return false;
	if (beneath_place(fd, at))
		return true;
	for (size_t i = 0; i < context->hide_count; i++)
		if (realpath(context->hide[i], hidden) && path_is_within(at, hidden))
			return true;
	return false;
}

/* Reports whether `path`, which does not exist, leads into a hidden directory: looks at the deepest
 * one on the way that exists. */
static bool leads_hidden(const struct tool_context *context, const char *path)
{
	AUTO_FREE char *above = strdup(path);
	for (char *slash; above && (slash = strrchr(above, '/'));) {
		*slash = '\0';
		struct stat st;
		AUTO_FD int fd = beneath_open(context->workspace_fd, above, O_PATH, 0, 0);
		if (fd >= 0)
			return fstat(fd, &st) || lookup_is_hidden(context, &st) ||
			       lies_hidden(context, fd);
	}
	return !above;
}

static int refuse_hidden(struct buf *out, const char *path)
{
	utf8_show(out, path);
	buf_adds(out, " is hidden by the operator.");
	return -1;
}

/* Returns the name in `dir` that is most similar to `name`. Heap; NULL: none is. */
static char *nearest(DIR *dir, const char *name)
{
	char *names[NAMES_MAX], *found = NULL;
	size_t count = 0;
	for (const struct dirent *d; count < NAMES_MAX && (d = readdir(dir));)
		names[count++] = strdup(d->d_name);
	const char *near = suggest_name(name, (const char *const *)names, count);
	if (near)
		found = strdup(near);
	while (count)
		free(names[--count]);
	return found;
}

/* Refuses a missing path, and suggests a similar name in its directory if there is one. */
static int refuse_name(const struct tool_context *context, const char *path, struct buf *out)
{
	AUTO_BUF ignored = BUF_INIT(TOOL_TEXT_CAP_BYTES);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	AUTO_FREE char *parent = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
	int fd = parent ? lookup_open_dir(context, parent, &ignored) : -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	AUTO_FREE char *near = dir ? nearest(dir, name) : NULL;
	refuse(out, path, ENOENT);
	if (near && !strcmp(near, name)) {
		buf_adds(out, " A link of that name leads to nothing.");
	} else if (near) {
		buf_adds(out, " Did you mean ");
		utf8_show(out, slash ? parent : "");
		utf8_show(out, near);
		buf_addc(out, '?');
	}
	if (dir)
		closedir(dir);
	else
		own_close(&fd);
	return -1;
}

/* Returns advice about the tool that suits what was found. */
static const char *other_tool(mode_t there, mode_t wanted)
{
	if (S_ISDIR(there) && S_ISREG(wanted))
		return "; use list_dir.";
	return S_ISREG(there) && S_ISDIR(wanted) ? "; use read_file." : ".";
}

/* Opens a file of that kind. Looks first, since opening a device or a pipe can have effects, and
 * checks that the opened file is the one looked at. */
static int open_kind(const struct tool_context *context, const char *path, mode_t kind,
	struct stat *st, struct buf *out)
{
	const char *relative = lookup_relative(context, path, out);
	if (!relative)
		return -1;
	AUTO_FD int look = beneath_open(context->workspace_fd, relative, O_PATH, 0, 0);
	int number = errno;
	if (look < 0 && leads_hidden(context, relative))
		return refuse_hidden(out, path);
	if (look < 0 && number == ENOENT && kind == S_IFREG)
		return refuse_name(context, path, out);
	if (look < 0 || fstat(look, st))
		return refuse(out, path, look < 0 ? number : errno);
	if (lookup_is_hidden(context, st) || lies_hidden(context, look))
		return refuse_hidden(out, path);
	if ((st->st_mode & S_IFMT) != kind) {
		utf8_show(out, path);
		buf_addf(out, " is %s, not %s%s", lookup_kind(st->st_mode), lookup_kind(kind),
			other_tool(st->st_mode, kind));
		return -1;
	}
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (kind == S_IFDIR ? O_DIRECTORY : 0);
	AUTO_FD int fd = beneath_open(context->workspace_fd, relative, flags, 0, 0);
	struct stat now;
	if (fd < 0 || fstat(fd, &now))
		return refuse(out, path, errno);
	if (!io_is_same(&now, st)) {
		utf8_show(out, path);
		buf_adds(out, " was replaced while it was being opened; try again.");
		return -1;
	}
	return TAKE_FD(fd);
}

int lookup_open_file(
	const struct tool_context *context, const char *path, struct stat *st, struct buf *out)
{
	return open_kind(context, path, S_IFREG, st, out);
}

int lookup_open_dir(const struct tool_context *context, const char *path, struct buf *out)
{
	struct stat st;
	return open_kind(context, path, S_IFDIR, &st, out);
}
