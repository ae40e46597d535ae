#include "agent/tools/list.h"
#include "agent/tools/lookup.h"

#include "base/utf8.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>

enum { ENTRIES_MAX = 1000, SCANNED_MAX = 100000 };

struct names {
	char **at;
	size_t count, size;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->at[i]);
	free(names->at);
}

static int names_add(struct names *names, const char *name)
{
	if (names->count == names->size) {
		size_t size = names->size ? 2 * names->size : 64;
		char **grown = reallocarray(names->at, size, sizeof(*grown));
		if (!grown)
			return -1;
		names->at = grown;
		names->size = size;
	}
	names->at[names->count] = strdup(name);
	return names->at[names->count] ? (names->count++, 0) : -1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(DIR *dir, const char *pattern, struct names *names)
{
	for (const struct dirent *d; names->count < SCANNED_MAX && (d = readdir(dir));)
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, "..") &&
			!fnmatch(pattern, d->d_name, 0) && names_add(names, d->d_name))
			return -1;
	if (names->count)
		qsort(names->at, names->count, sizeof(*names->at), by_name);
	return 0;
}

static void write_entry(
	const struct tool_context *context, int dir_fd, const char *name, struct buf *out)
{
	struct stat st;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	char target[256];
	ssize_t n = S_ISLNK(st.st_mode) ? readlinkat(dir_fd, name, target, sizeof(target) - 1) : -1;
	utf8_show(out, name);
	if (lookup_is_hidden(context, &st)) {
		buf_adds(out, "\thidden by the operator\n");
	} else if (S_ISDIR(st.st_mode)) {
		buf_adds(out, "/\n");
	} else if (S_ISREG(st.st_mode)) {
		buf_addf(out, "\t%lld bytes\n", (long long)st.st_size);
	} else if (n >= 0) {
		target[n] = '\0';
		buf_adds(out, "\tlink to ");
		utf8_show(out, target);
		buf_addc(out, '\n');
	} else {
		buf_addf(out, "\t%s\n", lookup_kind(st.st_mode));
	}
}

/* Opens the directory at `path`, or the one for which the last part of `path` is a *pattern. */
static int open_listed(
	const struct tool_context *context, const char *path, const char **pattern, struct buf *out)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	size_t before = out->len;
	int fd = lookup_open_dir(context, path, out);
	*pattern = "*";
	if (fd >= 0 || !strpbrk(last, "*?["))
		return fd;
	AUTO_FREE char *parent = strndup(path, (size_t)(last - path));
	out->len = before;
	*pattern = last;
	return lookup_open_dir(context, parent && *parent ? parent : ".", out);
}

static int list_dir(const struct tool_context *context, const json_t *arguments, struct buf *out)
{
	const char *pattern;
	int fd = open_listed(context, tool_path(arguments), &pattern, out);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		own_close(&fd);
		return -1;
	}
	struct names names = {0};
	int rc = read_names(dir, pattern, &names);
	size_t shown = names.count < ENTRIES_MAX ? names.count : ENTRIES_MAX;
	for (size_t i = 0; i < shown; i++)
		write_entry(context, dirfd(dir), names.at[i], out);
	if (rc)
		buf_adds(out, "(out of memory)");
	else if (!names.count)
		buf_adds(out, strcmp(pattern, "*") ? "(nothing matches)\n"
						   : "(the directory is empty)\n");
	else if (shown < names.count)
		buf_addf(out,
			"(%zu of %s%zu entries; a path that ends in a pattern, as DIR/ab*, lists "
			"what matches)\n",
			shown, names.count == SCANNED_MAX ? "more than " : "", names.count);
	names_done(&names);
	closedir(dir);
	return rc;
}

const struct tool tool_list_dir = {
	.name = "list_dir",
	.description = "Lists a directory of the workspace: sorted names, directories with a "
		       "trailing slash, files with their size.",
	.modes = TOOL_IN_AGENT | TOOL_IN_RUN,
	.args = {{"path", "the directory, relative to the workspace, default its root", ARG_STR,
		false, NULL}},
	.run = list_dir,
};
