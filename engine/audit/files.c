#include "audit/files.h"

#include "base/clock.h"
#include "base/io.h"
#include "journal/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

enum { FIRST_LINE_BYTES = 4096, TAIL_BYTES = SHA256_HEX + 3 /* HEX"}\n */ };

static int take_lock(int fd, int how, const char *name, struct err *e)
{
	while (flock(fd, how))
		if (errno != EINTR)
			return err_errno(e, "cannot lock %s", name);
	return 0;
}

static void lock_name(const struct audit *audit, char name[AUDIT_NAME_BYTES + 8])
{
	snprintf(name, AUDIT_NAME_BYTES + 8, "%s.lock", audit->name);
}

int audit_lock(const struct audit *audit, struct err *e)
{
	char name[AUDIT_NAME_BYTES + 8];
	lock_name(audit, name);
	AUTO_FD int fd = io_open_plain(audit->dir_fd, name, O_RDWR | O_CREAT, e);
	return fd < 0 || take_lock(fd, LOCK_EX, name, e) ? -1 : TAKE_FD(fd);
}

int audit_lock_shared(const struct audit *audit, int *lock, struct err *e)
{
	char name[AUDIT_NAME_BYTES + 8];
	struct err why = ERR_NONE;
	lock_name(audit, name);
	AUTO_FD int fd = io_open_plain(audit->dir_fd, name, O_RDONLY, &why);
	*lock = -1;
	if (fd < 0 && why.number == ENOENT) {
		why = ERR_NONE;
		fd = io_open_plain(audit->dir_fd, name, O_RDWR | O_CREAT, &why);
	}
	if (fd < 0)
		return why.number == EROFS || why.number == EACCES ? 0 : err_set(e, "%s", why.text);
	if (take_lock(fd, LOCK_SH, name, e))
		return -1;
	*lock = TAKE_FD(fd);
	return 0;
}

/* Returns the length of "audit" in "audit.jsonl". */
static int stem_len(const struct audit *audit)
{
	size_t len = strlen(audit->name);
	return (int)(len > 6 && !strcmp(audit->name + len - 6, ".jsonl") ? len - 6 : len);
}

int audit_file_name(const struct audit *audit, const char *day, char out[AUDIT_ROTATED_BYTES])
{
	int stem = stem_len(audit);
	snprintf(out, AUDIT_ROTATED_BYTES, "%.*s-%s.jsonl", stem, audit->name, day);
	for (int n = 1; !faccessat(audit->dir_fd, out, F_OK, AT_SYMLINK_NOFOLLOW); n++) {
		if (n > 9999)
			return -1;
		snprintf(out, AUDIT_ROTATED_BYTES, "%.*s-%s-%04d.jsonl", stem, audit->name, day, n);
	}
	return 0;
}

/* Reports whether this is STEM-YYYYMMDD.jsonl, or STEM-YYYYMMDD-N.jsonl for a further file of a
 * day. */
static bool is_rotated(const struct audit *audit, const char *name)
{
	int stem = stem_len(audit);
	if (strncmp(name, audit->name, (size_t)stem) || name[stem] != '-' ||
		strspn(name + stem + 1, "0123456789") != AUDIT_DAY_BYTES - 1)
		return false;
	const char *rest = name + stem + AUDIT_DAY_BYTES;
	if (*rest == '-' && strspn(rest + 1, "0123456789") == 4)
		rest += 5;
	return !strcmp(rest, ".jsonl");
}

/* Compares names without their ending, so that the second file of a day comes after the first. */
static int by_name(const void *a, const void *b)
{
	size_t la = strlen(a) - 6, lb = strlen(b) - 6;
	int order = memcmp(a, b, la < lb ? la : lb);
	return order ? order : (la > lb) - (la < lb);
}

int audit_files_list(const struct audit *audit, struct audit_files *out, struct err *e)
{
	*out = (struct audit_files){0};
	AUTO_FD int fd = openat(audit->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return err_errno(e, "cannot list the directory of %s", audit->name);
	(void)TAKE_FD(fd);
	out->names = calloc(AUDIT_FILES_MAX, sizeof(*out->names));
	for (const struct dirent *d; out->names && (d = readdir(dir));)
		if (is_rotated(audit, d->d_name) && out->count < AUDIT_FILES_MAX)
			snprintf(out->names[out->count++], sizeof(*out->names), "%s", d->d_name);
	closedir(dir);
	if (!out->names)
		return err_set(e, "out of memory");
	qsort(out->names, out->count, sizeof(*out->names), by_name);
	return 0;
}

void audit_files_done(struct audit_files *files)
{
	free(files->names);
	*files = (struct audit_files){0};
}

void audit_file_day(const struct audit *audit, const char *name, char day[AUDIT_DAY_BYTES])
{
	snprintf(day, AUDIT_DAY_BYTES, "%s", name + stem_len(audit) + 1);
}

void audit_day(const char *instant, char day[AUDIT_DAY_BYTES])
{
	snprintf(day, AUDIT_DAY_BYTES, "%.4s%.2s%.2s", instant, instant + 5, instant + 8);
}

/* Returns the end of the last whole line at or before `end`. */
static int64_t whole_lines(int fd, int64_t end)
{
	char chunk[4096];
	while (end > 0) {
		int64_t from = end > (int64_t)sizeof(chunk) ? end - (int64_t)sizeof(chunk) : 0;
		if (pread(fd, chunk, (size_t)(end - from), from) != end - from)
			return -1;
		const char *nl = memrchr(chunk, '\n', (size_t)(end - from));
		if (nl)
			return from + (nl - chunk) + 1;
		end = from;
	}
	return 0;
}

int audit_end(int fd, const char *name, int64_t *end, char chain[SHA256_HEX + 1], struct err *e)
{
	char tail[TAIL_BYTES];
	int64_t at = whole_lines(fd, lseek(fd, 0, SEEK_END));
	if (at < 0)
		return err_errno(e, "cannot read %s", name);
	*end = at;
	if (!at)
		return 0;
	if (at < TAIL_BYTES || pread(fd, tail, TAIL_BYTES, at - TAIL_BYTES) != TAIL_BYTES ||
		strspn(tail, "0123456789abcdef") != SHA256_HEX ||
		memcmp(tail + SHA256_HEX, "\"}\n", 3) != 0)
		return err_set(e,
			"%s is damaged: it does not end in a line of the audit trail; look at it "
			"(agent6 audit --verify), then move it away",
			name);
	memcpy(chain, tail, SHA256_HEX);
	chain[SHA256_HEX] = '\0';
	return 0;
}

int audit_first(int fd, const char *name, char prev[SHA256_HEX + 1], char day[AUDIT_DAY_BYTES],
	struct err *e)
{
	char line[FIRST_LINE_BYTES];
	int64_t began_us;
	ssize_t n = pread(fd, line, sizeof(line), 0);
	const char *nl = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
	json_auto_t *first = nl ? journal_decode(line, (size_t)(nl - line), NULL) : NULL;
	const char *type = json_string_value(json_object_get(first, "t"));
	const char *ts = json_string_value(json_object_get(first, "ts"));
	const char *from = json_string_value(json_object_get(first, "prev"));
	if (!type || strcmp(type, "opened") || !ts || clock_parse(ts, strlen(ts), &began_us) ||
		!from || strlen(from) != SHA256_HEX)
		return err_set(e, "%s, line 1: it is not the first line of an audit trail", name);
	memcpy(prev, from, SHA256_HEX + 1);
	audit_day(ts, day);
	return 0;
}
