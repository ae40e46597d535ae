/* The audit trail: chain, rotation, retention, damage, and a file that cannot be written. */
#include "audit/audit.h"
#include "base/io.h"
#include "tests/kit/tap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t today; /* 0: as the clock has it */

int clock_gettime(clockid_t clock, struct timespec *at)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, at);
	if (today && clock == CLOCK_REALTIME)
		at->tv_sec = today;
	return rc;
}

static bool unsynced; /* a disk that fails */

int fdatasync(int fd)
{
	errno = EIO;
	return unsynced ? -1 : (int)syscall(SYS_fdatasync, fd);
}

static char dir[256];

static void fresh(const char *name)
{
	snprintf(dir, sizeof(dir), "%s/%s", tap_scratch(), name);
	mkdir(dir, 0700);
}

static const char *path_of(const char *file)
{
	static char path[400];
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return path;
}

static struct audit opened(void)
{
	struct audit a = {.dir_fd = -1};
	struct err e = ERR_NONE;
	if (audit_open(path_of("audit.jsonl"), &a, &e))
		bail("%s", e.text);
	return a;
}

static int append(const struct audit *audit, const char *type, int seq, struct err *e)
{
	json_t *lines = json_pack("[{s:s, s:i, s:s}]", "t", type, "seq", seq, "id", "one");
	int rc = audit_append(audit, lines, e);
	json_decref(lines);
	return rc;
}

static int count_line(void *ctx, const char *text, size_t len, const json_t *fields)
{
	int *seen = ctx;
	(void)text;
	(void)len;
	*seen += json_integer_value(json_object_get(fields, "seq")) > 0;
	return 0;
}

static int read_all(
	const struct audit *audit, int *seen, struct audit_reader *reader, struct err *e)
{
	*seen = 0;
	*reader = (struct audit_reader){.line = count_line, .ctx = seen};
	*e = ERR_NONE;
	return audit_read(audit, reader, e);
}

static char *text_of_file(const char *file, size_t *len)
{
	char *text = NULL;
	if (io_read_file(AT_FDCWD, path_of(file), 1 << 20, &text, len, NULL))
		bail("cannot read %s", file);
	return text;
}

static void put_file(const char *file, const char *text, size_t len)
{
	AUTO_FD int fd = open(path_of(file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write(fd, text, len))
		bail("cannot write %s", file);
}

/* Makes the file one that began on another day, chained as it was. */
static void rename_day(const char *day)
{
	char to[64], from[400];
	snprintf(to, sizeof(to), "audit-%s.jsonl", day);
	snprintf(from, sizeof(from), "%s", path_of("audit.jsonl"));
	ok(!rename(from, path_of(to)), "a file of %s", day);
}

static void goes_on(void)
{
	struct err e = ERR_NONE;
	struct audit_reader r;
	int seen;
	fresh("chain");
	struct audit a = opened();
	is(read_all(&a, &seen, &r, &e), 0, "no trail yet is no damage: %s", e.text);
	is(append(&a, "proposed", 1, &e), 0, "a first line: %s", e.text);
	struct audit other = opened();
	is(append(&other, "approved", 2, &e), 0, "another process goes on: %s", e.text);
	is(append(&a, "executed", 3, &e), 0, "and the first again: %s", e.text);
	is(read_all(&a, &seen, &r, &e), 0, "it is whole: %s", e.text);
	is(seen, 3, "with its three lines");
	is((int)r.lines, 4, "and the one that opens it");
	struct stat st;
	ok(!stat(path_of("audit.jsonl"), &st) && (st.st_mode & 0777) == 0600, "it is private");
	audit_done(&other);
	audit_done(&a);
}

static void rotates(void)
{
	struct err e = ERR_NONE;
	struct audit_reader r;
	int seen;
	fresh("rotate");
	struct audit a = opened();
	append(&a, "proposed", 1, &e);
	rename_day("20260101");
	is(append(&a, "proposed", 2, &e), 0, "the next file: %s", e.text);
	is(read_all(&a, &seen, &r, &e), 0, "goes on from the one before: %s", e.text);
	is(seen, 2, "both are read");
	is((int)r.files, 2, "as two files");
	rename_day("20260102");
	append(&a, "proposed", 3, &e);
	is(audit_retain(&a, 30, &e), 0, "retention: %s", e.text);
	is(read_all(&a, &seen, &r, &e), 0, "what is kept is still whole: %s", e.text);
	is(seen, 1, "old files are gone whole");
	is(append(&a, "proposed", 4, &e), 0, "and it goes on: %s", e.text);
	audit_done(&a);
}

enum { DAY_SECS = 86400, TENTH = 20463 * DAY_SECS /* of January 2026 */ };

static void clock_was_set(void)
{
	struct err e = ERR_NONE;
	struct audit_reader r;
	int seen;
	fresh("clock");
	struct audit a = opened();
	today = TENTH;
	append(&a, "proposed", 1, &e);
	today = TENTH - 3 * DAY_SECS;
	append(&a, "proposed", 2, &e);
	is(read_all(&a, &seen, &r, &e), 0, "a clock that went back: %s", e.text);
	is((int)r.files, 1, "rotates nothing");
	today = TENTH + DAY_SECS;
	append(&a, "proposed", 3, &e);
	ok(!access(path_of("audit-20260110.jsonl"), F_OK), "the next day does");
	is(audit_retain(&a, 1, &e), 0, "retention: %s", e.text);
	is(read_all(&a, &seen, &r, &e), 0, "keeps the oldest day: %s", e.text);
	is(seen, 3, "and all of it");
	today = 0;
	audit_done(&a);
}

/* Days enough that no directory lists them in order by itself. */
static void two_of_a_day(void)
{
	enum { DAYS = 8 };
	struct err e = ERR_NONE;
	struct audit_reader r;
	int seen;
	fresh("two");
	struct audit a = opened();
	for (int i = 0; i < 2 * DAYS; i++) {
		char day[16];
		snprintf(day, sizeof(day), "2026011%d%s", i / 2, i % 2 ? "-0001" : "");
		append(&a, "proposed", 1 + i, &e);
		rename_day(day);
	}
	is(read_all(&a, &seen, &r, &e), 0, "a day's files are in their order: %s", e.text);
	is(seen, 2 * DAYS, "all of them");
	audit_done(&a);
}

/* A file whose first line is of an earlier day is rotated by the next line. */
static void rotates_by_day(void)
{
	struct err e = ERR_NONE;
	fresh("day");
	struct audit a = opened();
	append(&a, "proposed", 1, &e);
	size_t len;
	AUTO_FREE char *text = text_of_file("audit.jsonl", &len);
	memcpy(strstr(text, "\"ts\":\"") + 6, "2026-01-03", 10);
	put_file("audit.jsonl", text, len);
	is(append(&a, "proposed", 2, &e), 0, "a line on another day: %s", e.text);
	ok(!access(path_of("audit-20260103.jsonl"), F_OK), "the old file has its day's name");
	struct audit_reader r;
	int seen;
	is(read_all(&a, &seen, &r, &e), -1, "the changed date is found all the same");
	has_str(e.text, "audit-20260103.jsonl, line 1", "with its file and line");
	audit_done(&a);
}

/* Under a name that is no day's it would be out of sight, with all its lines. */
static void rotates_no_other(void)
{
	struct err e = ERR_NONE;
	size_t len;
	fresh("no-day");
	struct audit a = opened();
	append(&a, "proposed", 1, &e);
	AUTO_FREE char *text = text_of_file("audit.jsonl", &len);
	memcpy(strstr(text, "\"ts\":\"") + 6, "1x", 2);
	put_file("audit.jsonl", text, len);
	is(append(&a, "proposed", 2, &e), -1, "a file that began on no day is left alone");
	has_str(e.text, "audit.jsonl, line 1", "and named");
	audit_done(&a);
}

static void check_damage(const char *what, const char *file, const char *where)
{
	struct err e = ERR_NONE;
	struct audit_reader r;
	int seen;
	struct audit a = opened();
	is(read_all(&a, &seen, &r, &e), -1, "%s in %s is found", what, file);
	has_str(e.text, where, "at %s", where);
	audit_done(&a);
}

static void tampering(void)
{
	struct err e = ERR_NONE;
	size_t len, newest_len;
	fresh("tamper");
	struct audit a = opened();
	for (int i = 1; i <= 3; i++)
		append(&a, "denied", i, &e);
	rename_day("20260104");
	for (int i = 4; i <= 6; i++)
		append(&a, "denied", i, &e);
	AUTO_FREE char *old = text_of_file("audit-20260104.jsonl", &len);
	AUTO_FREE char *newest = text_of_file("audit.jsonl", &newest_len);

	char *changed = strndup(newest, newest_len);
	strstr(changed, "\"seq\":5")[6] = '7';
	put_file("audit.jsonl", changed, newest_len);
	check_damage("a changed byte", "audit.jsonl", "audit.jsonl, line 3");
	free(changed);

	const char *second = strchr(newest, '\n') + 1, *third = strchr(second, '\n') + 1;
	AUTO_FREE char *removed = NULL;
	int n = asprintf(&removed, "%.*s%s", (int)(second - newest), newest, third);
	put_file("audit.jsonl", removed, (size_t)n);
	check_damage("a removed line", "audit.jsonl", "audit.jsonl, line 2");

	put_file("audit.jsonl", newest, newest_len);
	const char *last = memrchr(old, '\n', len - 1);
	put_file("audit-20260104.jsonl", old, (size_t)(last + 1 - old));
	check_damage(
		"the end cut off an older file", "audit-20260104.jsonl", "audit.jsonl, line 1");

	AUTO_FREE char *torn = NULL;
	n = asprintf(&torn, "%sxyz", old);
	put_file("audit-20260104.jsonl", torn, (size_t)n);
	check_damage("an unfinished line of", "audit-20260104.jsonl", "an unfinished line");

	char *tail = strndup(newest, newest_len);
	tail[newest_len - 10] = 'x';
	put_file("audit.jsonl", tail, newest_len);
	is(append(&a, "denied", 7, &e), -1, "behind what is no hash nothing is added");
	put_file("audit.jsonl", newest, newest_len);
	free(tail);

	put_file("audit-20260104.jsonl", old, len);
	struct audit_reader r;
	int seen;
	is(read_all(&a, &seen, &r, &e), 0, "as it was, it is whole: %s", e.text);
	audit_done(&a);
}

static void unfinished(void)
{
	struct err e = ERR_NONE;
	struct audit_reader r;
	int seen;
	size_t len;
	fresh("torn");
	struct audit a = opened();
	append(&a, "proposed", 1, &e);
	append(&a, "proposed", 2, &e);
	AUTO_FREE char *text = text_of_file("audit.jsonl", &len);
	put_file("audit.jsonl", text, len - 20);
	is(read_all(&a, &seen, &r, &e), 0, "an unfinished last line is no damage: %s", e.text);
	ok(r.torn_bytes > 0, "but is told");
	is(append(&a, "proposed", 3, &e), 0, "and gives way to the next: %s", e.text);
	is(read_all(&a, &seen, &r, &e), 0, "which is whole: %s", e.text);
	is(seen, 2, "two lines");
	AUTO_FREE char *more = NULL;
	int n = asprintf(&more, "%s%4000s", text, "torn");
	put_file("audit.jsonl", more, (size_t)n);
	is(append(&a, "proposed", 3, &e), 0, "one that is longer, too: %s", e.text);
	is(read_all(&a, &seen, &r, &e), 0, "all of it: %s", e.text);
	is((int)r.torn_bytes, 0, "nothing of it is left");
	struct stat before, after;
	ok(!stat(path_of("audit.jsonl"), &before), "a disk that fails");
	unsynced = true;
	is(append(&a, "proposed", 4, &e), -1, "takes no line");
	unsynced = false;
	ok(!stat(path_of("audit.jsonl"), &after) && after.st_size == before.st_size,
		"and nothing of it stays");
	put_file("audit.jsonl", "torn", 4);
	is(read_all(&a, &seen, &r, &e), 0, "a first line that is unfinished is no damage");
	is((int)r.torn_bytes, 4, "but told");
	put_file("audit.jsonl", "something else\n", 15);
	is(append(&a, "proposed", 4, &e), -1, "to a foreign file nothing is added");
	has_str(e.text, "audit trail: audit.jsonl", "and it is named");
	audit_done(&a);
}

static void unwritable(void)
{
	struct err e = ERR_NONE;
	fresh("unwritable");
	struct audit a = opened();
	mkdir(path_of("audit.jsonl"), 0700);
	is(append(&a, "proposed", 1, &e), -1, "a directory is not a trail");
	rmdir(path_of("audit.jsonl"));
	put_file("real", "", 0);
	ok(!symlink("real", path_of("audit.jsonl")), "a link");
	e = ERR_NONE;
	is(append(&a, "proposed", 1, &e), -1, "is not followed");
	unlink(path_of("audit.jsonl"));
	ok(!mkfifo(path_of("audit.jsonl"), 0600), "a FIFO");
	e = ERR_NONE;
	is(append(&a, "proposed", 1, &e), -1, "is refused without waiting");
	audit_done(&a);
	e = ERR_NONE;
	is(audit_open("/nowhere/at/all.jsonl", &a, &e), -1, "a missing directory is refused");
}

int main(void)
{
	goes_on();
	rotates();
	rotates_by_day();
	rotates_no_other();
	clock_was_set();
	two_of_a_day();
	tampering();
	unfinished();
	unwritable();
	return tap_done();
}
