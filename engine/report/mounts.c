#include "report/mounts.h"

#include "base/path.h"
#include "report/text.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PLACES_MAX = 4096, LINE_BYTES_MAX = 16 * PATH_MAX };

struct mounted {
	char *path, *flags, *type, *device;
};

/* Decodes a path, in which blanks, tabs, line breaks and backslashes are three octal digits. */
static void unescape(char *path)
{
	char *to = path;
	for (const char *at = path; *at; to++) {
		bool escaped = *at == '\\' && strspn(at + 1, "01234567") >= 3;
		int code = escaped ? at[1] << 6 | (at[2] & 7) << 3 | (at[3] & 7) : *at;
		*to = (char)(code & 0xff);
		at += escaped ? 4 : 1;
	}
	*to = '\0';
}

/* Reads a line of /proc/self/mountinfo (proc(5)): the third word is the device, the fifth the
 * place, the sixth the options, and after " - " come type and source. Words end at blanks. */
static bool read_line(char *line, struct mounted *mounted)
{
	char *save = NULL, *type = strstr(line, " - ");
	if (!type)
		return false;
	*type = '\0';
	mounted->type = strtok_r(type + 3, " ", &save);
	for (int word = 1; word <= 6; word++) {
		char *text = strtok_r(word == 1 ? line : NULL, " ", &save);
		if (word == 3)
			mounted->device = text;
		if (word == 5)
			mounted->path = text;
		mounted->flags = text;
	}
	if (mounted->path)
		unescape(mounted->path);
	return mounted->path && mounted->flags && mounted->type;
}

/* Reports whether this is a tmpfs of the jail's own: the path has another device number outside. */
static bool is_private_memory(const struct mounted *mounted)
{
	struct stat st;
	char outside[32];
	if (strcmp(mounted->type, "tmpfs") != 0)
		return false;
	if (stat(mounted->path, &st))
		return true;
	snprintf(outside, sizeof(outside), "%u:%u", major(st.st_dev), minor(st.st_dev));
	return strcmp(mounted->device, outside) != 0;
}

static bool has_flag(const char *flags, const char *flag)
{
	size_t len = strlen(flag);
	for (; flags; flags = strchr(flags, ',') ? strchr(flags, ',') + 1 : NULL)
		if (!strncmp(flags, flag, len) && (!flags[len] || flags[len] == ','))
			return true;
	return false;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct mounted *)a)->path, ((const struct mounted *)b)->path);
}

static void add_mounted(struct buf *out, const struct mounted *all, size_t at)
{
	const struct mounted *m = &all[at];
	size_t half = text_page_columns() / 2;
	AUTO_BUF line = BUF_INIT(LINE_BYTES_MAX);
	for (size_t i = 0; i < at; i++)
		if (strcmp(all[i].path, "/") != 0 && path_is_below(m->path, all[i].path))
			buf_adds(&line, "  ");
	text_clean(&line, m->path, PATH_MAX);
	text_pad(&line, 0, half);
	bool memory = is_private_memory(m), device = !strcmp(m->type, "devtmpfs");
	buf_adds(&line, memory                       ? "private memory, "
			: device                     ? "device, "
			: !strcmp(m->type, "proc")   ? "its own processes, "
			: !strcmp(m->type, "devpts") ? "its own terminals, "
						     : "of this host, ");
	buf_adds(&line, has_flag(m->flags, "ro") ? "read-only" : "writable");
	if (!has_flag(m->flags, "noexec"))
		buf_adds(&line, ", programs run");
	wrap_text(out, line.failed ? "a place whose name is too long to be shown" : line.data, half,
		text_columns(STDOUT_FILENO));
	buf_addc(out, '\n');
}

int mounts_text(struct buf *out, char *text)
{
	AUTO_FREE struct mounted *all = calloc(PLACES_MAX, sizeof(*all));
	size_t count = 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); all && line && count < PLACES_MAX;
		line = strtok_r(NULL, "\n", &save))
		count += read_line(line, &all[count]);
	if (!all)
		return -1;
	if (count)
		qsort(all, count, sizeof(*all), by_path);
	for (size_t i = 0; i < count; i++)
		add_mounted(out, all, i);
	return out->failed ? -1 : 0;
}
