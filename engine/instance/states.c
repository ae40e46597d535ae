#include "instance/states.h"

#include "base/io.h"
#include "base/json.h"
#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NOTE_BYTES = 512 };

static unsigned long long number_of(const char *name)
{
	char *end;
	unsigned long long n = strtoull(name, &end, 10);
	return end != name && *end == '-' ? n : 0;
}

static int is_execution(const struct dirent *entry)
{
	return number_of(entry->d_name) != 0;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	unsigned long long x = number_of((*a)->d_name), y = number_of((*b)->d_name);
	return (x > y) - (x < y);
}

/* Removes the oldest directories. One that cannot be removed now is tried again with the next
 * execution. */
static void prune(const struct instance *instance, int64_t keep)
{
	struct dirent **entries = NULL;
	AUTO_FD int states = openat(instance->dir_fd, "states", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = states < 0 ? 0 : scandirat(states, ".", &entries, is_execution, by_number);
	for (int at = 0; at < n; at++) {
		if (at < n - (keep > 0 ? keep : 1)) /* never the newest */
			tree_remove(states, entries[at]->d_name, NULL);
		free(entries[at]);
	}
	free(entries);
}

int states_open(const struct instance *instance, const char *dir, int64_t keep, struct err *e)
{
	if (mkdirat(instance->dir_fd, "states", 0700) && errno != EEXIST)
		return err_errno(e, "cannot create %s/states", instance->path);
	if (mkdirat(instance->dir_fd, dir, 0700) == 0)
		prune(instance, keep);
	else if (errno != EEXIST)
		return err_errno(e, "cannot create %s/%s", instance->path, dir);
	int fd = openat(instance->dir_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? err_errno(e, "cannot open %s/%s", instance->path, dir) : fd;
}

int states_write(int dir_fd, const char *name, int attempt, const void *bytes, size_t len)
{
	char numbered[NAME_MAX];
	snprintf(numbered, sizeof(numbered), attempt > 1 ? "%s.%d" : "%s", name, attempt);
	unlinkat(dir_fd, numbered, 0);
	if (!len)
		return 0;
	AUTO_FD int fd = openat(dir_fd, numbered, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : io_write(fd, bytes, len);
}

/* Syncs the note and the directories above it, up to the instance: each may be new. */
static int sync_all(int fd, int dir_fd)
{
	static const char *const dirs[] = {".", "..", "../.."};
	int failed = fsync(fd);
	for (size_t i = 0; !failed && i < ARRAY_LEN(dirs); i++) {
		AUTO_FD int dir = openat(dir_fd, dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		failed = dir < 0 || fsync(dir);
	}
	return failed;
}

/* Writes a fixed number of bytes in place, at once: a killed process leaves the old note or the new
 * one. */
int states_note_spend(int dir_fd, int execution, const struct spend *spend, struct err *e)
{
	char note[NOTE_BYTES + 1];
	AUTO_FD int fd = io_open_plain(dir_fd, "spend", O_WRONLY | O_CREAT, e);
	json_auto_t *spent = spend ? spend_encode(spend) : NULL;
	json_object_set_new(spent, "execution", json_integer(execution));
	AUTO_FREE char *text = spend ? json_text(spent) : strdup("");
	if (fd < 0)
		return -1;
	if (!text || snprintf(note, sizeof(note), "%-*s", NOTE_BYTES, text) != NOTE_BYTES)
		return err_set(e, "out of memory");
	ssize_t n = pwrite(fd, note, NOTE_BYTES, 0);
	if (n >= 0 && n < NOTE_BYTES)
		errno = ENOSPC;
	if (n != NOTE_BYTES)
		return err_errno(e, "cannot write spend");
	return (spend ? fdatasync(fd) : sync_all(fd, dir_fd)) ? err_errno(e, "cannot sync spend")
							      : 0;
}

int states_read_spend(
	const struct instance *instance, const char *dir, int execution, struct spend *out)
{
	char path[NAME_MAX];
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	snprintf(path, sizeof(path), "%s/spend", dir);
	if (io_read_file(instance->dir_fd, path, NOTE_BYTES, &text, &len, NULL))
		return -1;
	json_auto_t *note = json_read(text, len, NOTE_BYTES, NULL);
	return note && json_get_int(note, "execution") == execution ? spend_decode(note, out, NULL)
								    : -1;
}
