#include "jail/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

struct walk {
	struct scan *found;
	char path[PATH_MAX];
	size_t len, depth;
};

void scan_init(struct scan *s)
{
	*s = (struct scan){0};
}

void scan_done(struct scan *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->path[i]);
	free(s->path);
	*s = (struct scan){0};
}

static int keep(struct scan *s, const char *path, struct err *e)
{
	if (!s->path)
		s->path = calloc(SCAN_FOUND_MAX, sizeof(*s->path));
	char *copy = s->path ? strdup(path) : NULL;
	if (!copy)
		return err_set(e, "out of memory");
	s->path[s->count++] = copy;
	return 0;
}

static unsigned char type_of(int dir_fd, const struct dirent *entry)
{
	struct stat st;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	return fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW)
		       ? DT_UNKNOWN
		       : (unsigned char)IFTODT(st.st_mode);
}

static int walk(struct walk *w, int dir_fd, struct err *e);

static int visit(struct walk *w, int dir_fd, const struct dirent *entry, struct err *e)
{
	struct scan *s = w->found;
	size_t before = w->len, len = strlen(entry->d_name);
	unsigned char type = type_of(dir_fd, entry);
	int failed = 0;
	if (type != DT_DIR && type != DT_SOCK && type != DT_FIFO)
		return 0;
	if (before + 1 + len >= PATH_MAX || w->depth == SCAN_DEPTH_MAX ||
		s->count == SCAN_FOUND_MAX) {
		s->cut = true;
		return 0;
	}
	w->path[before] = '/';
	memcpy(w->path + before + 1, entry->d_name, len + 1);
	w->len += len + 1;
	if (type == DT_DIR) {
		AUTO_FD int fd = openat(
			dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		w->depth++;
		if (fd < 0)
			s->cut = true;
		else
			failed = walk(w, TAKE_FD(fd), e);
		w->depth--;
	} else {
		failed = keep(s, w->path, e);
	}
	w->len = before;
	w->path[before] = '\0';
	return failed;
}

static int walk(struct walk *w, int dir_fd, struct err *e)
{
	DIR *dir = fdopendir(dir_fd);
	if (!dir) {
		close(dir_fd);
		return err_errno(e, "cannot list %s", w->path);
	}
	const struct dirent *entry;
	int failed = 0;
	while (!failed && !w->found->cut && (errno = 0, entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (++w->found->entries > SCAN_ENTRIES_MAX)
			w->found->cut = true;
		else
			failed = visit(w, dir_fd, entry, e);
	}
	w->found->cut = w->found->cut || (!failed && !entry && errno);
	closedir(dir);
	return failed;
}

int scan_tree(struct scan *s, const char *path, struct err *e)
{
	struct walk w = {.found = s, .len = strlen(path)};
	if (w.len >= sizeof(w.path))
		return err_set(e, "the path %s is too long", path);
	memcpy(w.path, path, w.len + 1);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return walk(&w, fd, e);
	/* A granted file is looked at where it is mounted; what is missing fails there. */
	s->cut = s->cut || (errno != ENOTDIR && errno != ENOENT);
	return 0;
}
