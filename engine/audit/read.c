#include "audit/files.h"
#include "base/io.h"
#include "journal/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_lines(struct audit_reader *r, struct journal_reader *j, struct err *e)
{
	const char *line;
	size_t len;
	int got;
	while ((got = journal_next(j, &line, &len, e)) > 0) {
		json_auto_t *fields = journal_decode(line, len, e);
		if (!fields)
			return err_wrap(
				e, "%s, line %llu", j->name, (unsigned long long)j->mark.lines);
		r->lines++;
		if (r->line && r->line(r->ctx, line, len, fields))
			return -1;
	}
	r->torn_bytes = j->torn_bytes;
	return got;
}

/* Reads one file. `chain`: the chain value after the file before; empty: this is the oldest one. */
static int read_file(int fd, const char *name, char chain[SHA256_HEX + 1],
	struct audit_reader *reader, struct err *e)
{
	char prev[SHA256_HEX + 1], end_chain[SHA256_HEX + 1], day[AUDIT_DAY_BYTES];
	int64_t end;
	if (reader->torn_bytes)
		return err_set(e, "the file before %s ends in an unfinished line", name);
	if (!audit_end(fd, name, &end, end_chain, NULL) && !end) {
		reader->torn_bytes = lseek(fd, 0, SEEK_END);
		return 0;
	}
	if (audit_first(fd, name, prev, day, e))
		return -1;
	if (*chain && strcmp(chain, prev) != 0)
		return err_set(e,
			"%s, line 1: it does not go on from the end of the file before it: lines "
			"or whole files were changed or removed",
			name);
	struct journal_mark from = journal_start();
	memcpy(from.chain, prev, SHA256_HEX + 1);
	struct journal_reader j;
	journal_reader_init(&j, fd, &from);
	j.name = name;
	int rc = read_lines(reader, &j, e);
	memcpy(chain, j.mark.chain, SHA256_HEX + 1);
	journal_reader_done(&j);
	reader->files++;
	return rc;
}

static int read_rotated(const struct audit *audit, const struct audit_files *files,
	char chain[SHA256_HEX + 1], struct audit_reader *reader, struct err *e)
{
	for (size_t i = 0; i < files->count; i++) {
		AUTO_FD int fd = io_open_plain(audit->dir_fd, files->names[i], O_RDONLY, e);
		if (fd < 0 || read_file(fd, files->names[i], chain, reader, e))
			return -1;
	}
	return 0;
}

int audit_read(const struct audit *audit, struct audit_reader *reader, struct err *e)
{
	char chain[SHA256_HEX + 1] = "";
	struct audit_files f;
	/* Hold the lock only while the files are listed: a slow reader must not delay a command. */
	AUTO_FD int lock = -1;
	if (audit_lock_shared(audit, &lock, e) || audit_files_list(audit, &f, e))
		return -1;
	struct err why = ERR_NONE;
	AUTO_FD int fd = io_open_plain(audit->dir_fd, audit->name, O_RDONLY, &why);
	int rc = fd < 0 && why.number != ENOENT ? err_set(e, "%s", why.text) : 0;
	own_close(&lock);
	if (!rc)
		rc = read_rotated(audit, &f, chain, reader, e);
	if (!rc && fd >= 0)
		rc = read_file(fd, audit->name, chain, reader, e);
	audit_files_done(&f);
	return rc;
}
