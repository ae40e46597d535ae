#include "audit/audit.h"

#include "audit/files.h"
#include "base/clock.h"
#include "base/io.h"
#include "config/config.h"
#include "journal/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { APPEND_BYTES_MAX = 4 * 1024 * 1024 };

void audit_path(const struct config *config, char path[PATH_MAX])
{
	if (config->audit.path)
		snprintf(path, PATH_MAX, "%s", config->audit.path);
	else
		snprintf(path, PATH_MAX, "%s/audit.jsonl", config->state_dir);
}

int audit_open(const char *path, struct audit *out, struct err *e)
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');
	if (!slash || !slash[1] || strlen(slash + 1) >= AUDIT_NAME_BYTES ||
		slash - path >= (ptrdiff_t)sizeof(dir))
		return err_set(e, "audit.path %.200s is not the absolute path of a file", path);
	snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	if (!realpath(dir, real))
		return err_errno(e, "the audit trail's directory %.400s", dir);
	AUTO_FD int fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "cannot open %.400s", real);
	*out = (struct audit){.dir_fd = TAKE_FD(fd)};
	snprintf(out->name, sizeof(out->name), "%s", slash + 1);
	return 0;
}

void audit_done(struct audit *audit)
{
	own_close(&audit->dir_fd);
}

/* Finds the chain value that a new file continues: that of the newest rotated file, else zeros. */
static int last_chain(const struct audit *audit, char chain[SHA256_HEX + 1], struct err *e)
{
	struct audit_files f;
	struct journal_mark start = journal_start();
	int64_t end;
	memcpy(chain, start.chain, SHA256_HEX + 1);
	if (audit_files_list(audit, &f, e))
		return -1;
	int rc = 0;
	if (f.count) {
		const char *name = f.names[f.count - 1];
		AUTO_FD int fd = io_open_plain(audit->dir_fd, name, O_RDONLY, e);
		rc = fd < 0 ? -1 : audit_end(fd, name, &end, chain, e);
	}
	audit_files_done(&f);
	return rc;
}

/* Renames a file that began on an earlier day. If the clock went back, nothing is rotated. */
static int rotate(const struct audit *audit, int *fd, const char *now, struct err *e)
{
	char prev[SHA256_HEX + 1], began[AUDIT_DAY_BYTES], today[AUDIT_DAY_BYTES];
	char name[AUDIT_ROTATED_BYTES];
	struct stat st;
	if (fstat(*fd, &st) || !st.st_size)
		return 0;
	audit_day(now, today);
	if (audit_first(*fd, audit->name, prev, began, e))
		return -1;
	if (strcmp(began, today) >= 0)
		return 0;
	if (audit_file_name(audit, began, name) ||
		renameat(audit->dir_fd, audit->name, audit->dir_fd, name))
		return err_errno(e, "cannot rename %s to %s", audit->name, name);
	own_close(fd);
	*fd = openat(audit->dir_fd, audit->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		0600);
	return *fd < 0 ? err_errno(e, "cannot create %s", audit->name) : 0;
}

static int encode(
	json_t *lines, const char *now, char chain[SHA256_HEX + 1], struct buf *out, struct err *e)
{
	size_t i;
	json_t *line;
	json_array_foreach (lines, i, line) {
		json_object_set_new(line, "ts", json_string(now));
		if (journal_encode(line, chain, out, e))
			return -1;
	}
	return 0;
}

/* Writes the first line of a file, which ties it to the file before. */
static int begin(const struct audit *audit, const char *now, char chain[SHA256_HEX + 1],
	struct buf *out, struct err *e)
{
	if (last_chain(audit, chain, e))
		return -1;
	json_auto_t *line = json_pack(
		"{s:s, s:s, s:i, s:s}", "t", "opened", "ts", now, "seq", 0, "prev", chain);
	return journal_encode(line, chain, out, e);
}

static int write_lines(int fd, int64_t at, const struct buf *text, const char *name, struct err *e)
{
	if (io_write_at(fd, text->data, text->len, at))
		return err_errno(e, "cannot write %s", name);
	return fdatasync(fd) ? err_errno(e, "cannot sync %s", name) : 0;
}

static int append_locked(const struct audit *audit, json_t *lines, struct err *e)
{
	char now[CLOCK_TEXT_BYTES], chain[SHA256_HEX + 1];
	int64_t end = 0;
	AUTO_BUF text = BUF_INIT(APPEND_BYTES_MAX);
	clock_text(clock_realtime_us(), now);
	AUTO_FD int fd = io_open_plain(audit->dir_fd, audit->name, O_RDWR | O_CREAT, e);
	if (fd < 0)
		return -1;
	if (rotate(audit, &fd, now, e) || audit_end(fd, audit->name, &end, chain, e))
		return -1;
	bool fresh = !end;
	if ((fresh && begin(audit, now, chain, &text, e)) || encode(lines, now, chain, &text, e))
		return -1;
	/* Bytes after the last whole line were never acknowledged: cut them off. */
	if (ftruncate(fd, end) || write_lines(fd, end, &text, audit->name, e)) {
		err_errno(e, "cannot write %s", audit->name);
		if (ftruncate(fd, end))
			err_wrap(e, "and what was written of it could not be taken back");
		return -1;
	}
	return fresh && fsync(audit->dir_fd)
		       ? err_errno(e, "cannot sync the directory of %s", audit->name)
		       : 0;
}

int audit_append(const struct audit *audit, json_t *lines, struct err *e)
{
	AUTO_FD int lock = audit_lock(audit, e);
	if (lock < 0 || append_locked(audit, lines, e))
		return err_wrap(e, "audit trail");
	return 0;
}

int audit_retain(const struct audit *audit, int64_t days, struct err *e)
{
	char oldest[CLOCK_TEXT_BYTES], day[AUDIT_DAY_BYTES], limit[AUDIT_DAY_BYTES];
	struct audit_files f;
	clock_text(clock_realtime_us() - days * 86400 * 1000000, oldest);
	audit_day(oldest, limit);
	AUTO_FD int lock = audit_lock(audit, e);
	if (lock < 0 || audit_files_list(audit, &f, e))
		return err_wrap(e, "audit trail");
	int rc = 0;
	for (size_t i = 0; i < f.count && !rc; i++) {
		audit_file_day(audit, f.names[i], day);
		if (strcmp(day, limit) < 0 && unlinkat(audit->dir_fd, f.names[i], 0))
			rc = err_errno(e, "cannot remove %s", f.names[i]);
	}
	audit_files_done(&f);
	return rc;
}
